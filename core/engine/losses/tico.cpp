// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/tico.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

TicoImpl::TicoImpl(std::int64_t d, double beta, double rho) : m_beta(beta), m_rho(rho)
{
    covariance = register_buffer("covariance", torch::zeros({d, d}));
}

torch::Tensor TicoImpl::forward(const torch::Tensor &z0, const torch::Tensor &z1, const dist::Ranks &ranks, bool update)
{
    TORCH_CHECK(z0.dim() == 2 && z0.sizes() == z1.sizes() && z0.size(1) == covariance.size(0), "TiCo of width ",
                covariance.size(0), " takes two tensors of one shape [n, d], not ", z0.sizes(), " and ", z1.sizes());
    const torch::Tensor a = normalised(z0), b = normalised(z1);
    torch::Tensor now;
    {
        torch::NoGradGuard noGrad;
        torch::Tensor second = torch::matmul(a.t(), a);
        ranks.allReduceSum(second);
        now = m_beta * covariance + (1 - m_beta) / double(ranks.offsetOf(a.size(0)).second) * second;
        if (update) covariance.copy_(now);
    }
    return 1 + globalMean(m_rho * (torch::matmul(a, now) * a).sum(1) - (a * b).sum(1), ranks);
}

} // namespace parallax::losses
