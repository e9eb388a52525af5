// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/optim/optimconfig.h"

#include <torch/torch.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace parallax::optim {

/// A parameter and how it is treated.
struct Parameter {
    std::string name;
    torch::Tensor tensor;
    double weightDecay = 0;
    bool decays = true; ///< false: left out of weight decay for good
};

/// What a parameter is to weight decay. Norms are layers whose "weight" has one dimension; their biases belong to them. All else
/// whose name ends in "bias" is a bias, the in_proj_bias of an attention too; class tokens and positions are weights.
enum class Role { Weight, Bias, Norm };
/// The roles of all parameters of `module`, in the order of named_parameters().
std::vector<Role> rolesOf(const torch::nn::Module &module);

/// The parameters of `module` that require a gradient, with the weight decay that `config` gives each.
std::vector<Parameter> parametersOf(const torch::nn::Module &module, const OptimConfig &config);

/// Changes parameters by their gradients. Its state is plain named tensors, so that a checkpoint is a safetensors file.
class Optimiser
{
public:
    virtual ~Optimiser() = default;
    /// One update with this step's learning rate. A parameter without gradient stays as it is.
    virtual void step(double learningRate) = 0;
    /// Sets every gradient undefined.
    void zeroGrad();
    /// From now on, for every parameter that decays at all.
    void setWeightDecay(double decay);
    /// Tensors to keep, named after their parameter: "backbone.conv1.weight.momentum". The optimiser's own, not copies.
    std::map<std::string, torch::Tensor> state() const;
    /// The state as saved. An Error for a name or shape that belongs to no parameter, and for a parameter that has a part of its
    /// state only; nothing has changed then.
    Status loadState(const std::map<std::string, torch::Tensor> &state);
    const std::vector<Parameter> &parameters() const { return m_parameters; }

protected:
    /// What is remembered of every parameter under one name. A parameter has all slots or none.
    struct Slot {
        std::string name;                  ///< "momentum"
        bool counter = false;              ///< one int64 instead of a tensor of the parameter's shape
        std::vector<torch::Tensor> values; ///< by parameter; undefined until its first gradient
    };
    Optimiser(std::vector<Parameter> parameters, std::vector<Slot> slots);
    torch::Tensor &kept(std::size_t slot, std::size_t parameter) { return m_slots[slot].values[parameter]; }

    std::vector<Parameter> m_parameters;

private:
    std::vector<Slot> m_slots;
};

/// The optimiser that `config` names; throws std::runtime_error for a name there is none for.
std::unique_ptr<Optimiser> makeOptimiser(const OptimConfig &config, std::vector<Parameter> parameters);

} // namespace parallax::optim
