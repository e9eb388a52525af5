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
    Sgd(std::vector<Parameter> parameters, SgdOptions options);
    void step(double learningRate) override;
    std::map<std::string, torch::Tensor> state() const override;
    Status loadState(const std::map<std::string, torch::Tensor> &state) override;

private:
    SgdOptions m_options;
    std::vector<torch::Tensor> m_momentum; ///< by parameter; undefined until its first gradient
};

} // namespace parallax::optim
