// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/koleo.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor koLeo(const torch::Tensor &x, const dist::Ranks &ranks, double p, double eps)
{
    TORCH_CHECK(x.dim() == 2, "KoLeo takes a tensor [n, d], not ", x.sizes());
    const std::int64_t n = x.size(0);
    const auto [offset, total] = ranks.offsetOf(n);
    TORCH_CHECK(total > 1, "KoLeo needs two rows: one has no neighbour");
    const torch::Tensor own = normalised(x, 1, eps), all = ranks.gather(own);
    torch::Tensor nearest;
    {
        torch::NoGradGuard noGrad;
        const torch::Tensor self =
            torch::arange(offset, offset + n, torch::TensorOptions(torch::kInt64).device(x.device())).unsqueeze(1);
        nearest = torch::matmul(own, all.t()).scatter(1, self, -2).argmax(1);
    }
    const torch::Tensor distance = (own - all.index_select(0, nearest) + eps).norm(p, 1);
    return -rankMean((distance + eps).log(), ranks);
}

} // namespace parallax::losses
