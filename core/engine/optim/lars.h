// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/optim/optimiser.h"

namespace parallax::optim {

struct LarsOptions {
    double momentum = 0.9;
    double dampening = 0; ///< the share of an update that does not enter the momentum
    bool nesterov = false;
    double trustCoefficient = 0.001, eps = 1e-8;
};

/// SGD at a rate of its own for every layer (You et al. 2017, arXiv:1708.03888), as lightly has it. Where a parameter has weight
/// decay, and neither it nor its gradient is zero: d = (g + wd·p) · trust·|p| / (|g| + wd·|p| + ε); elsewhere d = g, so that
/// parameters without weight decay (biases, norms) take plain steps and those that start at zero move. v = d at first, then
/// momentum·v + (1 - dampening)·d; p -= lr · v, or lr · (d + momentum·v) with Nesterov's momentum.
class Lars final : public Optimiser
{
public:
    /// Throws std::runtime_error for Nesterov's momentum without momentum.
    Lars(std::vector<Parameter> parameters, LarsOptions options);
    void step(double learningRate) override;

private:
    torch::Tensor scaled(const Parameter &parameter) const;

    LarsOptions m_options;
};

} // namespace parallax::optim
