// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/optim/optimiser.h"

namespace parallax::optim {

struct SgdOptions {
    double momentum = 0.9;
    bool nesterov = false;
};

/// Stochastic gradient descent, the arithmetic of torch.optim.SGD: g' = g + wd·p; v = g' at first, then momentum·v + g';
/// p -= lr · v, or lr · (g' + momentum·v) with Nesterov's momentum.
class Sgd final : public Optimiser
{
public:
    /// Throws std::runtime_error for Nesterov's momentum without momentum.
    Sgd(std::vector<Parameter> parameters, SgdOptions options);
    void step(double learningRate) override;

private:
    SgdOptions m_options;
};

/// Throws std::runtime_error when `nesterov` is asked for without momentum.
void checkNesterov(bool nesterov, double momentum);

} // namespace parallax::optim
