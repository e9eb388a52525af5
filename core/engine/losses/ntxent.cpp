// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ntxent.h"

#include <limits>

namespace parallax::losses {

namespace {

torch::Tensor normalised(const torch::Tensor &z)
{
    // Half precision overflows exp(1 / temperature) from a temperature of 0.09 on.
    const torch::Tensor wide = z.scalar_type() == torch::kFloat64 ? z : z.to(torch::kFloat32);
    return torch::nn::functional::normalize(wide, torch::nn::functional::NormalizeFuncOptions().p(2).dim(1));
}

} // namespace

torch::Tensor ntxent(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, const dist::Ranks &ranks)
{
    TORCH_CHECK(z0.dim() == 2 && z0.sizes() == z1.sizes(), "NT-Xent takes two tensors of one shape [n, d], not ", z0.sizes(),
                " and ", z1.sizes());
    const std::int64_t n = z0.size(0), d = z0.size(1);
    const torch::Tensor a = normalised(z0), b = normalised(z1);
    // Both views of an image travel as one row: one collective.
    const auto [offset, total] = ranks.offsetOf(n);
    const torch::Tensor all = ranks.gather(torch::cat({a, b}, 1)); // [N, 2d]
    const torch::Tensor others =
        torch::cat({all.narrow(1, 0, d), all.narrow(1, d, d)}); // [2N, d]: first views, second views

    const torch::Tensor own = torch::arange(offset, offset + n, torch::TensorOptions(torch::kInt64).device(z0.device()));
    const torch::Tensor self = torch::cat({own, own + total}), partner = torch::cat({own + total, own});
    const torch::Tensor logits = torch::matmul(torch::cat({a, b}), others.t()) / temperature; // [2n, 2N]
    const torch::Tensor rivals = logits.scatter(1, self.unsqueeze(1), -std::numeric_limits<double>::infinity());
    const torch::Tensor sum = torch::nn::functional::cross_entropy(
        rivals, partner, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
    return sum * (double(ranks.world()) / double(2 * total));
}

} // namespace parallax::losses
