// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/visreg.h"

#include "core/engine/losses/lejepa.h"
#include "core/engine/losses/tensors.h"

#include <cmath>

namespace parallax::losses {

namespace {

/// Standard normal quantiles at i / (n + 1), in float32 as the reference implementation has them. [n, 1]
torch::Tensor normalQuantiles(std::int64_t n, const torch::TensorOptions &options)
{
    const torch::Tensor at = torch::arange(1, n + 1, torch::kFloat32) / double(n + 1);
    return (torch::erfinv(2 * at - 1) * std::sqrt(2.0)).to(options).unsqueeze(1);
}

} // namespace

torch::Tensor visReg(const torch::Tensor &local, const torch::Tensor &global, const torch::Tensor &directions,
                     const VisRegOptions &options, const dist::Ranks &ranks)
{
    TORCH_CHECK(local.dim() == 3 && global.dim() == 3 && local.sizes().slice(1) == global.sizes().slice(1) &&
                    directions.dim() == 2 && directions.size(0) == local.size(2),
                "VISReg takes views [V, n, d], [W, n, d] and directions [d, S], not ", local.sizes(), ", ", global.sizes(),
                " and ", directions.sizes());
    const torch::Tensor own = torch::cat({widened(global), widened(local)});                  // [V + W, n, d]
    const torch::Tensor all = ranks.gather(own.transpose(0, 1).contiguous()).transpose(0, 1); // [V + W, N, d]
    TORCH_CHECK(all.size(1) > 1, "VISReg needs two rows: one has no deviation");
    const torch::Tensor mean = all.mean(1, /*keepdim=*/true);
    const torch::Tensor deviation = all.std(1, /*unbiased=*/false, /*keepdim=*/true);
    const torch::Tensor standard = (all - mean) / (deviation.detach() + options.eps);
    const torch::Tensor projected = torch::matmul(standard, normalised(directions, 0).to(all.scalar_type()));
    const torch::Tensor sorted = std::get<0>(projected.sort(1)); // [V + W, N, S]

    const torch::Tensor regulariser = options.scale * (1 - deviation).square().mean() +
        options.shape * (sorted - normalQuantiles(all.size(1), all.options())).square().mean() +
        options.center * mean.square().mean();
    return (1 - options.lambda) * centroidInvariance(own, widened(global), ranks) + options.lambda * regulariser;
}

} // namespace parallax::losses
