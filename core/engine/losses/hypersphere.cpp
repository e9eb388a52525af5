// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/hypersphere.h"

#include "core/engine/losses/tensors.h"

#include <cmath>
#include <limits>

namespace parallax::losses {

torch::Tensor hypersphere(const torch::Tensor &z0, const torch::Tensor &z1, const HypersphereOptions &options,
                          const dist::Ranks &ranks)
{
    TORCH_CHECK(z0.dim() == 2 && z0.sizes() == z1.sizes(),
                "The hypersphere loss takes two tensors of one shape [n, d], not ", z0.sizes(), " and ", z1.sizes());
    const std::int64_t n = z0.size(0);
    const auto [offset, total] = ranks.offsetOf(n);
    TORCH_CHECK(total > 1, "The hypersphere loss needs two rows: one has no distance");
    const torch::Tensor a = normalised(z0), b = normalised(z1);
    const auto all = gatherTogether({a, b}, ranks);
    const torch::Tensor self =
        torch::arange(offset, offset + n, torch::TensorOptions(torch::kInt64).device(z0.device())).unsqueeze(1);
    const double pairs = double(total) * double(total - 1); // each pair from both ends
    const auto uniformity = [&](const torch::Tensor &x, const torch::Tensor &others) {
        // |x − y|²; a zero row, which has no direction, is at distance 1 from all others.
        const torch::Tensor squares = x.square().sum(1, /*keepdim=*/true) + others.square().sum(1);
        const torch::Tensor distance = squares - 2 * torch::matmul(x, others.t());
        const torch::Tensor logs = (-options.t * distance).scatter(1, self, -std::numeric_limits<double>::infinity());
        return logSumExpOfRows(logs.logsumexp(1), ranks) - std::log(pairs);
    };
    const torch::Tensor alignment = rankMean((a - b).norm(2, 1).pow(options.alpha), ranks);
    return alignment + options.uniformity * 0.5 * (uniformity(a, all[0]) + uniformity(b, all[1]));
}

} // namespace parallax::losses
