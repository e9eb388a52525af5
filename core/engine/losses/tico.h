// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// TiCo (Zhu et al. 2022, arXiv:2206.10698): views agree, and embeddings avoid the directions that the moving
/// covariance already has.
class TicoImpl : public torch::nn::Module
{
public:
    /// d: width of the embeddings; beta: how much of the covariance stays at a step; rho: weight of the contrast.
    TicoImpl(std::int64_t d, double beta, double rho);

    /// z0, z1: [n, d], normalised here. C ← beta C + (1 − beta) AᵀA / N over the rows A of z0 of all ranks, no gradient;
    /// then 1 − mean cosine + rho · mean aᵀCa. `update` false: C is used but not kept. Returns the whole batch's loss on
    /// every rank; its gradient is world times the own share. Throws c10::Error for shapes that do not match.
    torch::Tensor forward(const torch::Tensor &z0, const torch::Tensor &z1, const dist::Ranks &ranks, bool update = true);

    torch::Tensor covariance; ///< [d, d], starts at 0

private:
    double m_beta, m_rho;
};
TORCH_MODULE(Tico);

} // namespace parallax::losses
