// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/lars.h"

#include "core/engine/optim/sgd.h"

namespace parallax::optim {

Lars::Lars(std::vector<Parameter> parameters, LarsOptions options)
    : Optimiser(std::move(parameters), {{"momentum"}}), m_options(options)
{
    checkNesterov(options.nesterov, options.momentum);
}

/// The gradient with decay and trust ratio. Both cases are computed and chosen from, so that a GPU need not wait for the norms.
torch::Tensor Lars::scaled(const Parameter &parameter) const
{
    const torch::Tensor &weights = parameter.tensor, gradient = weights.grad();
    if (parameter.weightDecay == 0) return gradient;
    const torch::Tensor length = weights.norm(), slope = gradient.norm();
    const torch::Tensor trust =
        m_options.trustCoefficient * length / (slope + parameter.weightDecay * length + m_options.eps);
    return torch::where((length != 0) & (slope != 0), gradient.add(weights, parameter.weightDecay) * trust, gradient);
}

void Lars::step(double learningRate)
{
    torch::NoGradGuard noGrad;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        torch::Tensor weights = m_parameters[i].tensor;
        if (!weights.grad().defined()) continue;
        torch::Tensor update = scaled(m_parameters[i]);
        if (m_options.momentum != 0) {
            torch::Tensor &velocity = kept(0, i);
            if (velocity.defined())
                velocity.mul_(m_options.momentum).add_(update, 1 - m_options.dampening);
            else
                velocity = update.clone();
            update = m_options.nesterov ? update.add(velocity, m_options.momentum) : velocity;
        }
        weights.add_(update, -learningRate);
    }
}

} // namespace parallax::optim
