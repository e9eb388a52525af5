// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/dcl.h"

#include "core/engine/losses/tensors.h"

#include <limits>

namespace parallax::losses {

namespace {

/// `sigma` 0: no weights.
torch::Tensor decoupled(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, double sigma,
                        const dist::Ranks &ranks)
{
    TORCH_CHECK(z0.dim() == 2 && z0.sizes() == z1.sizes(), "DCL takes two tensors of one shape [n, d], not ", z0.sizes(),
                " and ", z1.sizes());
    const std::int64_t n = z0.size(0);
    const auto [offset, total] = ranks.offsetOf(n);
    TORCH_CHECK(total > 1, "DCL needs two images: with one there is nothing to tell it from");
    const torch::Tensor a = normalised(z0), b = normalised(z1);
    const auto all = gatherTogether({a, b}, ranks); // [N, d] each
    const torch::Tensor own =
        torch::arange(offset, offset + n, torch::TensorOptions(torch::kInt64).device(z0.device())).unsqueeze(1);

    torch::Tensor weight = torch::ones({n}, a.options());
    if (sigma > 0) {
        const torch::Tensor cosine = (all[0] * all[1]).sum(1).detach();
        weight = (2 - double(total) * (cosine / sigma).softmax(0)).narrow(0, offset, n);
    }
    const auto direction = [&](const torch::Tensor &from, const torch::Tensor &same, const torch::Tensor &other) {
        const double never = -std::numeric_limits<double>::infinity();
        const torch::Tensor within = torch::matmul(from, same.t()) / temperature;  // [n, N]
        const torch::Tensor across = torch::matmul(from, other.t()) / temperature; // [n, N]
        const torch::Tensor negative = torch::cat({within.scatter(1, own, never), across.scatter(1, own, never)}, 1);
        return negative.logsumexp(1) - weight * across.gather(1, own).squeeze(1);
    };
    return rankMean(0.5 * (direction(a, all[0], all[1]) + direction(b, all[1], all[0])), ranks);
}

} // namespace

torch::Tensor dcl(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, const dist::Ranks &ranks)
{
    return decoupled(z0, z1, temperature, 0, ranks);
}

torch::Tensor dclw(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, double sigma,
                   const dist::Ranks &ranks)
{
    TORCH_CHECK(sigma > 0, "DCLW needs a sigma above 0, not ", sigma);
    return decoupled(z0, z1, temperature, sigma, ranks);
}

} // namespace parallax::losses
