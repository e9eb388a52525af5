// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/optimiser.h"

#include "core/engine/optim/adam.h"
#include "core/engine/optim/lars.h"
#include "core/engine/optim/sgd.h"

#include <set>
#include <stdexcept>

namespace parallax::optim {

namespace {

/// "conv1." of "conv1.weight".
std::string layerOf(const std::string &name) { return name.substr(0, name.rfind('.') + 1); }

} // namespace

std::vector<Role> rolesOf(const torch::nn::Module &module)
{
    const auto named = module.named_parameters();
    std::set<std::string> norms;
    for (const auto &item : named)
        if (const std::string layer = layerOf(item.key()); item.key() == layer + "weight" && item.value().dim() == 1)
            norms.insert(layer);
    std::vector<Role> roles;
    for (const auto &item : named)
        roles.push_back(norms.count(layerOf(item.key()))   ? Role::Norm
                            : item.key().ends_with("bias") ? Role::Bias
                                                           : Role::Weight);
    return roles;
}

std::vector<Parameter> parametersOf(const torch::nn::Module &module, const OptimConfig &config)
{
    const bool excludes = config.name == "lars" ? config.excludeBiasNormLars : config.excludeBiasNormWd;
    const auto roles = rolesOf(module);
    std::vector<Parameter> parameters;
    std::size_t i = 0;
    for (const auto &item : module.named_parameters()) {
        const bool decays = !excludes || roles[i] == Role::Weight;
        ++i;
        if (item.value().requires_grad())
            parameters.push_back({item.key(), item.value(), decays ? config.weightDecay : 0, decays});
    }
    return parameters;
}

Optimiser::Optimiser(std::vector<Parameter> parameters, std::vector<Slot> slots)
    : m_parameters(std::move(parameters)), m_slots(std::move(slots))
{
    for (auto &slot : m_slots) slot.values.resize(m_parameters.size());
}

void Optimiser::zeroGrad()
{
    for (auto &parameter : m_parameters) parameter.tensor.mutable_grad().reset();
}

void Optimiser::setWeightDecay(double decay)
{
    for (auto &parameter : m_parameters)
        if (parameter.decays) parameter.weightDecay = decay;
}

std::map<std::string, torch::Tensor> Optimiser::state() const
{
    std::map<std::string, torch::Tensor> state;
    for (const auto &slot : m_slots)
        for (std::size_t i = 0; i < m_parameters.size(); ++i)
            if (slot.values[i].defined()) state[m_parameters[i].name + "." + slot.name] = slot.values[i];
    return state;
}

Status Optimiser::loadState(const std::map<std::string, torch::Tensor> &state)
{
    std::vector<Slot> slots = m_slots;
    std::set<std::string> known;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        const Parameter &parameter = m_parameters[i];
        std::size_t found = 0;
        for (auto &slot : slots) {
            const std::string name = parameter.name + "." + slot.name;
            known.insert(name);
            slot.values[i].reset();
            const auto saved = state.find(name);
            if (saved == state.end()) continue;
            if (slot.counter ? saved->second.dim() != 0 : saved->second.sizes() != parameter.tensor.sizes())
                return Error{
                    "The saved " + slot.name + " of " + parameter.name + " has another shape than the parameter", {}, {}};
            // A copy: the state may be another optimiser's own. Counters stay where they are read.
            slot.values[i] = slot.counter ? saved->second.to(torch::kCPU, torch::kInt64, false, true)
                                          : saved->second.to(parameter.tensor.options(), false, true);
            ++found;
        }
        if (found != 0 && found != slots.size())
            return Error{"The saved optimiser state holds a part only of what belongs to " + parameter.name,
                         {},
                         "Continue with the optimiser that the run began with"};
    }
    for (const auto &[name, tensor] : state)
        if (!known.count(name))
            return Error{"The saved optimiser state holds " + name + ", which belongs to no parameter", {}, {}};
    m_slots = std::move(slots);
    return {};
}

std::unique_ptr<Optimiser> makeOptimiser(const OptimConfig &config, std::vector<Parameter> parameters)
{
    if (config.name == "sgd")
        return std::make_unique<Sgd>(std::move(parameters), SgdOptions{config.momentum, config.nesterov});
    if (config.name == "adam" || config.name == "adamw")
        return std::make_unique<Adam>(std::move(parameters),
                                      AdamOptions{config.beta1, config.beta2, config.eps, config.name == "adamw"});
    if (config.name == "lars") {
        LarsOptions options;
        options.momentum = config.momentum;
        options.nesterov = config.nesterov;
        options.trustCoefficient = config.trustCoefficient;
        options.eps = config.eps;
        return std::make_unique<Lars>(std::move(parameters), options);
    }
    throw std::runtime_error("There is no optimiser named " + config.name);
}

} // namespace parallax::optim
