// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/pairs.h"

#include "core/engine/losses/tensors.h"

#include <limits>

namespace parallax::losses {

Pairs pairsOf(const torch::Tensor &z0, const torch::Tensor &z1, const dist::Ranks &ranks, const char *loss)
{
    TORCH_CHECK(z0.dim() == 2 && z0.sizes() == z1.sizes(), loss, " takes two tensors of one shape [n, d], not ", z0.sizes(),
                " and ", z1.sizes());
    const std::int64_t n = z0.size(0);
    const torch::Tensor a = normalised(z0), b = normalised(z1);
    const auto [offset, total] = ranks.offsetOf(n);
    const torch::Tensor others = torch::cat(gatherTogether({a, b}, ranks)); // [2N, d]: first views, second views

    const torch::Tensor own = torch::arange(offset, offset + n, torch::TensorOptions(torch::kInt64).device(z0.device()));
    const torch::Tensor self = torch::cat({own, own + total}), partner = torch::cat({own + total, own});
    const torch::Tensor cosine = torch::matmul(torch::cat({a, b}), others.t());
    return {cosine.scatter(1, self.unsqueeze(1), -std::numeric_limits<double>::infinity()), partner, total};
}

} // namespace parallax::losses
