// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/lossscaler.h"

namespace parallax::train {

bool LossScaler::update(bool finite)
{
    constexpr double largest = 1 << 24; // beyond it tiny losses overflow as soon as they grow
    if (!finite) {
        if (m_state.scale <= 1) return false;
        m_state = {m_state.scale / 2, 0};
        return true;
    }
    if (++m_state.goodSteps >= kGrowAfter) m_state = {m_state.scale < largest ? m_state.scale * 2 : m_state.scale, 0};
    return true;
}

} // namespace parallax::train
