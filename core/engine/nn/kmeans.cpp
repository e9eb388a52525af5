// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/kmeans.h"

namespace parallax::nn {

namespace {

torch::Tensor unit(const torch::Tensor &rows)
{
    return torch::nn::functional::normalize(rows, torch::nn::functional::NormalizeFuncOptions().p(2).dim(1));
}

/// `count` places among n, each at most once while there are enough; drawn on the CPU, so that a device does not change them.
torch::Tensor draw(std::int64_t n, std::int64_t count)
{
    std::vector<torch::Tensor> rounds;
    for (std::int64_t left = count; left > 0; left -= n) rounds.push_back(torch::randperm(n, torch::kInt64));
    return torch::cat(rounds).narrow(0, 0, count);
}

} // namespace

torch::Tensor kMeans(const torch::Tensor &rows, std::int64_t k, int iterations)
{
    const torch::NoGradGuard noGrad;
    TORCH_CHECK(rows.dim() == 2 && rows.size(0) > 0 && k > 0, "k-means takes rows [n, d] and at least one centre, not ",
                rows.sizes(), " and ", k);
    const torch::Tensor x = unit(rows);
    torch::Tensor centres = x.index_select(0, draw(x.size(0), k).to(x.device()));
    for (int i = 0; i < iterations; ++i) {
        const torch::Tensor nearest = torch::matmul(x, centres.t()).argmax(1);
        torch::Tensor sum = torch::zeros_like(centres).index_add_(0, nearest, x);
        const torch::Tensor lonely = sum.norm(2, {1}, /*keepdim=*/true) == 0;
        const torch::Tensor fresh = x.index_select(0, draw(x.size(0), k).to(x.device()));
        centres = unit(torch::where(lonely, fresh, sum));
    }
    return centres;
}

} // namespace parallax::nn
