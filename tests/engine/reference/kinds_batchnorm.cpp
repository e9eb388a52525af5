// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/weights.h"
#include "tests/engine/reference/kinds.h"

namespace reference {
namespace {

using namespace parallax;

void checkSteps(Checking &checking, torch::Dtype dtype)
{
    const Case &file = checking.file;
    const int rank = checking.ranks->rank();
    const std::string twin = dtype == torch::kFloat64 ? "64." : ".", own = ".rank" + std::to_string(rank);
    nn::BatchNormOptions options(file.params.at("channels").get<std::int64_t>());
    options.eps = file.params.at("eps");
    options.momentum = file.params.at("momentum");
    options.affine = file.params.at("affine");
    nn::BatchNorm norm(options);
    norm->synchronise(checking.ranks);
    nn::convertFloats(*norm, dtype);
    for (const auto &[name, tensor] : nn::stateDict(*norm)) {
        torch::NoGradGuard noGrad;
        if (file.has("input." + name)) torch::Tensor(tensor).copy_(file.tensor("input." + name));
    }
    for (int step = 0; step < file.params.at("steps").get<int>(); ++step) {
        const std::string at = "step" + std::to_string(step), input = "input." + at + own;
        const torch::Tensor x = file.tensor(input + ".x").to(dtype).requires_grad_();
        const torch::Tensor y = norm->forward(x);
        checking.compare("output" + twin + at + own + ".y", y);
        checking.compare("output" + twin + at + ".running_mean", norm->running_mean);
        checking.compare("output" + twin + at + ".running_var", norm->running_var);
        norm->zero_grad();
        y.backward(file.tensor(input + ".upstream").to(dtype));
        checking.compare("grad" + twin + at + own + ".x", x.grad());
        if (!options.affine) continue;
        for (const auto &parameter : norm->named_parameters()) {
            checking.compare("grad" + twin + at + own + "." + parameter.key(), parameter.value().grad());
            torch::Tensor sum = parameter.value().grad().clone();
            checking.ranks->allReduceSum(sum);
            checking.compare("grad" + twin + at + "." + parameter.key(), sum);
        }
    }
}

const Register syncBatchNorm({"syncbn"}, [](Checking &checking) {
    checkSteps(checking, torch::kFloat32);
    if (checking.file.has("output64.step0.running_mean")) checkSteps(checking, torch::kFloat64);
});

} // namespace
} // namespace reference
