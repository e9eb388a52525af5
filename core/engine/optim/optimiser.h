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
};

/// The parameters of `module` that require a gradient, with the weight decay that `config` gives each: biases and the weights
/// of norms are those with one dimension.
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
    /// Tensors to keep, named after their parameter: "backbone.conv1.weight.momentum". The optimiser's own, not copies.
    virtual std::map<std::string, torch::Tensor> state() const = 0;
    /// The state as saved. An Error for a name or shape that belongs to no parameter; nothing has changed then.
    virtual Status loadState(const std::map<std::string, torch::Tensor> &state) = 0;
    const std::vector<Parameter> &parameters() const { return m_parameters; }

protected:
    explicit Optimiser(std::vector<Parameter> parameters) : m_parameters(std::move(parameters)) { }
    std::vector<Parameter> m_parameters;
};

/// The optimiser that `config` names; throws std::runtime_error for a name there is none for.
std::unique_ptr<Optimiser> makeOptimiser(const OptimConfig &config, std::vector<Parameter> parameters);

} // namespace parallax::optim
