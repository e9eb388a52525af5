// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace parallax::train {

/// Keeps gradients that pass through float16 in its range: the loss is multiplied by a power of two before backward, the
/// gradients are divided by it before they are used (Micikevicius et al. 2018, arXiv:1710.03740). A step whose gradients
/// overflow is left out and halves the factor; kGrowAfter good steps in a row double it.
class LossScaler
{
public:
    static constexpr std::int64_t kGrowAfter = 2000;

    /// What a checkpoint keeps.
    struct State {
        double scale = 65536;
        std::int64_t goodSteps = 0; ///< since the factor last changed
    };

    explicit LossScaler(bool enabled) : m_enabled(enabled) { }

    bool isEnabled() const { return m_enabled; }
    double scale() const { return m_enabled ? m_state.scale : 1; }
    /// Takes note of a step; `finite`: its gradients were. False where even the unscaled loss overflows: no factor will help.
    bool update(bool finite);

    const State &state() const { return m_state; }
    void setState(const State &state) { m_state = state; }

private:
    bool m_enabled;
    State m_state;
};

} // namespace parallax::train
