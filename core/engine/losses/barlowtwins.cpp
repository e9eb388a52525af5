// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/barlowtwins.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor barlowTwins(const torch::Tensor &z0, const torch::Tensor &z1, double lambda, const dist::Ranks &ranks)
{
    TORCH_CHECK(z0.dim() == 2 && z0.sizes() == z1.sizes(), "Barlow Twins takes two tensors of one shape [n, d], not ",
                z0.sizes(), " and ", z1.sizes());
    const std::int64_t d = z0.size(1);
    const double total = double(ranks.offsetOf(z0.size(0)).second);
    const torch::Tensor z = torch::cat({widened(z0), widened(z1)}, 1); // [n, 2d]: both views in one collective
    // Two passes: the difference of large sums would lose a small variance.
    const torch::Tensor centred = z - ranks.sum(z.sum(0)) / total;
    const torch::Tensor variance = ranks.sum(centred.square().sum(0)) / total;
    const torch::Tensor standard = centred * (variance + 1e-5).rsqrt();
    const torch::Tensor own = torch::matmul(standard.narrow(1, 0, d).t(), standard.narrow(1, d, d));
    const torch::Tensor correlation = ranks.sum(own) / total; // [d, d]
    return (correlation.diagonal() - 1).square().sum() + lambda * offDiagonal(correlation).square().sum();
}

} // namespace parallax::losses
