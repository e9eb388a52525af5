// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/sgd.h"

#include <stdexcept>

namespace parallax::optim {

void checkNesterov(bool nesterov, double momentum)
{
    if (nesterov && momentum <= 0)
        throw std::runtime_error(
            "optim.nesterov looks ahead along the momentum: set optim.momentum above 0, or optim.nesterov to false");
}

Sgd::Sgd(std::vector<Parameter> parameters, SgdOptions options)
    : Optimiser(std::move(parameters), {{"momentum"}}), m_options(options)
{
    checkNesterov(options.nesterov, options.momentum);
}

void Sgd::step(double learningRate)
{
    torch::NoGradGuard noGrad;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        const Parameter &parameter = m_parameters[i];
        torch::Tensor weights = parameter.tensor, update = weights.grad();
        if (!update.defined()) continue;
        if (parameter.weightDecay != 0) update = update.add(weights, parameter.weightDecay);
        if (m_options.momentum != 0) {
            torch::Tensor &velocity = kept(0, i);
            if (velocity.defined())
                velocity.mul_(m_options.momentum).add_(update);
            else
                velocity = update.clone();
            update = m_options.nesterov ? update.add(velocity, m_options.momentum) : velocity;
        }
        weights.add_(update, -learningRate);
    }
}

} // namespace parallax::optim
