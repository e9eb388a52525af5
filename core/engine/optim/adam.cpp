// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/adam.h"

#include <cmath>

namespace parallax::optim {

namespace {

enum Slots { Mean, Square, Updates };

} // namespace

Adam::Adam(std::vector<Parameter> parameters, AdamOptions options)
    : Optimiser(std::move(parameters), {{"exp_avg"}, {"exp_avg_sq"}, {"step", true}}), m_options(options)
{
}

void Adam::step(double learningRate)
{
    torch::NoGradGuard noGrad;
    const auto &[beta1, beta2, eps, decoupled] = m_options;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        const Parameter &parameter = m_parameters[i];
        torch::Tensor weights = parameter.tensor, gradient = weights.grad();
        if (!gradient.defined()) continue;
        torch::Tensor &mean = kept(Mean, i), &square = kept(Square, i), &updates = kept(Updates, i);
        if (!updates.defined()) {
            mean = torch::zeros_like(weights);
            square = torch::zeros_like(weights);
            updates = torch::zeros({}, torch::kInt64);
        }
        const double t = double(updates.add_(1).item<std::int64_t>());
        if (decoupled)
            weights.mul_(1 - learningRate * parameter.weightDecay);
        else if (parameter.weightDecay != 0)
            gradient = gradient.add(weights, parameter.weightDecay);
        mean.mul_(beta1).add_(gradient, 1 - beta1);
        square.mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);
        const torch::Tensor width = (square.sqrt() / std::sqrt(1 - std::pow(beta2, t))).add_(eps);
        weights.addcdiv_(mean, width, -learningRate / (1 - std::pow(beta1, t)));
    }
}

} // namespace parallax::optim
