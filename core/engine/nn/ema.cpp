// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/ema.h"

namespace parallax::nn {

void updateMomentum(const torch::nn::Module &model, torch::nn::Module &average, double momentum)
{
    torch::NoGradGuard noGrad;
    const auto from = model.parameters();
    auto to = average.parameters();
    TORCH_CHECK(from.size() == to.size(), "A network of ", from.size(), " parameters has no average of ", to.size());
    for (std::size_t i = 0; i < to.size(); ++i) to[i].mul_(momentum).add_(from[i], 1 - momentum);
}

void startMomentum(const torch::nn::Module &model, torch::nn::Module &average)
{
    updateMomentum(model, average, 0);
    torch::NoGradGuard noGrad;
    for (auto &parameter : average.parameters()) parameter.set_requires_grad(false);
    const auto from = model.buffers();
    auto to = average.buffers();
    TORCH_CHECK(from.size() == to.size(), "A network of ", from.size(), " buffers has no average of ", to.size());
    for (std::size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);
}

} // namespace parallax::nn
