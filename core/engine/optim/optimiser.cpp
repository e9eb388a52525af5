// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/optimiser.h"

#include "core/engine/optim/sgd.h"

#include <stdexcept>

namespace parallax::optim {

std::vector<Parameter> parametersOf(const torch::nn::Module &module, const OptimConfig &config)
{
    std::vector<Parameter> parameters;
    for (const auto &item : module.named_parameters()) {
        const torch::Tensor &tensor = item.value();
        if (!tensor.requires_grad()) continue;
        const bool excluded = config.excludeBiasNormWd && tensor.dim() <= 1;
        parameters.push_back({item.key(), tensor, excluded ? 0 : config.weightDecay});
    }
    return parameters;
}

void Optimiser::zeroGrad()
{
    for (auto &parameter : m_parameters) parameter.tensor.mutable_grad().reset();
}

std::unique_ptr<Optimiser> makeOptimiser(const OptimConfig &config, std::vector<Parameter> parameters)
{
    if (config.name == "sgd")
        return std::make_unique<Sgd>(std::move(parameters), SgdOptions{config.momentum, config.nesterov});
    throw std::runtime_error("There is no optimiser named " + config.name);
}

} // namespace parallax::optim
