// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/co2.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor co2(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, double weight,
                  const dist::Ranks &ranks)
{
    TORCH_CHECK(z0.dim() == 2 && z0.sizes() == z1.sizes(), "CO2 takes two tensors of one shape [n, d], not ", z0.sizes(),
                " and ", z1.sizes());
    const torch::Tensor a = normalised(z0), b = normalised(z1);
    const auto all = gatherTogether({a, b}, ranks);
    const torch::Tensor p = (torch::matmul(a, all[1].t()) / temperature).log_softmax(1);
    const torch::Tensor q = (torch::matmul(b, all[0].t()) / temperature).log_softmax(1);
    // KL(p ‖ q) + KL(q ‖ p) = Σ (p − q)(log p − log q)
    return 0.5 * weight * rankMean(((p.exp() - q.exp()) * (p - q)).sum(1), ranks);
}

} // namespace parallax::losses
