// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/mmcr.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor mmcr(const torch::Tensor &online, const torch::Tensor &momentum, double lambda, const dist::Ranks &ranks)
{
    TORCH_CHECK(online.dim() == 3 && online.sizes() == momentum.sizes(),
                "MMCR takes two tensors of one shape [n, V, d], not ", online.sizes(), " and ", momentum.sizes());
    const torch::Tensor views = torch::cat({widened(online), widened(momentum)}, 1); // [n, 2V, d]
    const torch::Tensor centroids = ranks.gather(views.mean(1));                     // [N, d]
    return lambda * rankMean(torch::linalg_svdvals(views).sum(1), ranks) - torch::linalg_svdvals(centroids).sum();
}

} // namespace parallax::losses
