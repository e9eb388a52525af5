// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/sgd.h"

#include <stdexcept>

namespace parallax::optim {

namespace {

constexpr const char *suffix = ".momentum";

} // namespace

Sgd::Sgd(std::vector<Parameter> parameters, SgdOptions options)
    : Optimiser(std::move(parameters)), m_options(options), m_momentum(m_parameters.size())
{
    if (options.nesterov && options.momentum <= 0)
        throw std::runtime_error(
            "optim.nesterov looks ahead along the momentum: set optim.momentum above 0, or optim.nesterov to false");
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
            torch::Tensor &velocity = m_momentum[i];
            if (velocity.defined())
                velocity.mul_(m_options.momentum).add_(update);
            else
                velocity = update.clone();
            update = m_options.nesterov ? update.add(velocity, m_options.momentum) : velocity;
        }
        weights.add_(update, -learningRate);
    }
}

std::map<std::string, torch::Tensor> Sgd::state() const
{
    std::map<std::string, torch::Tensor> state;
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        if (m_momentum[i].defined()) state[m_parameters[i].name + suffix] = m_momentum[i];
    return state;
}

Status Sgd::loadState(const std::map<std::string, torch::Tensor> &state)
{
    std::vector<torch::Tensor> momentum(m_parameters.size());
    std::size_t used = 0;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        const Parameter &parameter = m_parameters[i];
        const auto found = state.find(parameter.name + suffix);
        if (found == state.end()) continue;
        if (found->second.sizes() != parameter.tensor.sizes())
            return Error{"The saved momentum of " + parameter.name + " has another shape than the parameter", {}, {}};
        momentum[i] = found->second.to(parameter.tensor.options(), /*non_blocking=*/false, /*copy=*/true);
        ++used;
    }
    if (used != state.size())
        for (const auto &[name, tensor] : state) {
            const bool known = std::any_of(m_parameters.begin(), m_parameters.end(),
                                           [&name](const Parameter &p) { return p.name + suffix == name; });
            if (!known) return Error{"The saved optimiser state holds " + name + ", which belongs to no parameter", {}, {}};
        }
    m_momentum = std::move(momentum);
    return {};
}

} // namespace parallax::optim
