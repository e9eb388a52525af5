// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/engine/reference/kinds.h"

namespace reference {

/// The module's tensors of those names, or their gradients, in the order of the reference file; undefined where the module has
/// none of that name.
inline std::vector<torch::Tensor> byName(const torch::nn::Module &module, const nlohmann::json &names, bool gradients)
{
    std::map<std::string, torch::Tensor> all;
    for (const auto &[name, tensor] : parallax::nn::stateDict(module)) all[name] = tensor;
    std::vector<torch::Tensor> list;
    for (const std::string name : names) {
        const auto found = all.find(name);
        list.push_back(found == all.end() ? torch::Tensor() : gradients ? found->second.grad() : found->second);
    }
    return list;
}

/// Names and shapes must be those of the file's "state_dict", but for names that start as one of `unused` does.
inline void compareStateDict(Checking &checking, const torch::nn::Module &module,
                             const std::vector<std::string> &unused = {})
{
    std::map<std::string, std::vector<std::int64_t>> want, have;
    for (const auto &entry : checking.file.list("state_dict")) {
        const std::string name = entry[0];
        if (std::ranges::none_of(unused, [&](const std::string &start) { return name.starts_with(start); }))
            want[name] = entry[1].get<std::vector<std::int64_t>>();
    }
    for (const auto &[name, tensor] : parallax::nn::stateDict(module)) have[name] = tensor.sizes().vec();
    for (const auto &[name, shape] : want)
        if (!have.count(name) || have[name] != shape) checking.fail("the state dict differs at " + name);
    for (const auto &[name, shape] : have)
        if (!want.count(name)) checking.fail("the state dict has " + name + ", which the reference lacks");
}

/// One forward and backward in evaluation, then one in training, of the module as it is filled: output, loss, gradients and what
/// became of the buffers, in float32 and in float64. `prepare`: after filling.
template<class Module>
void compareModes(
    Checking &checking, Module &module, const std::function<void()> &prepare = [] {})
{
    const Case &file = checking.file;
    for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
        const std::string twin = dtype == torch::kFloat64 ? "64." : ".";
        if (!file.has("output" + twin + "eval")) continue;
        fillModule(module);
        prepare();
        parallax::nn::convertFloats(module, dtype);
        for (const std::string mode : {"eval", "train"}) {
            module.train(mode == "train");
            for (auto &parameter : module.parameters()) parameter.mutable_grad().reset();
            const bool inputGradient = file.has("grad" + twin + "x_" + mode);
            const torch::Tensor x = file.tensor("input.x").to(dtype).requires_grad_(inputGradient), out = module.forward(x);
            const torch::Tensor target =
                file.has("input.target") ? file.tensor("input.target").to(dtype) : torch::zeros({}, dtype);
            const torch::Tensor loss = (out - target).square().mean();
            loss.backward();
            checking.compare("output" + twin + mode, out);
            checking.compare("output" + twin + "loss_" + mode, loss);
            checking.compare("grad" + twin + "norms_" + mode, norms(byName(module, file.list("grad_names"), true)));
            if (inputGradient) checking.compare("grad" + twin + "x_" + mode, x.grad());
        }
        if (const std::string name = "output" + twin + "buffer_norms_after_train"; file.has(name))
            checking.compare(name, norms(byName(module, file.list("buffer_names"), false)));
    }
    parallax::nn::convertFloats(module, torch::kFloat32);
}

} // namespace reference
