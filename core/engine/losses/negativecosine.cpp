// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/negativecosine.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor negativeCosine(const torch::Tensor &x, const torch::Tensor &y, const dist::Ranks &ranks, double eps)
{
    TORCH_CHECK(x.dim() == 2 && x.sizes() == y.sizes(), "Negative cosine takes two tensors of one shape [n, d], not ",
                x.sizes(), " and ", y.sizes());
    return -rankMean(torch::cosine_similarity(widened(x), widened(y), 1, eps), ranks);
}

torch::Tensor symmetricNegativeCosine(const torch::Tensor &p0, const torch::Tensor &p1, const torch::Tensor &z0,
                                      const torch::Tensor &z1, const dist::Ranks &ranks)
{
    return 0.5 * (negativeCosine(p0, z1.detach(), ranks) + negativeCosine(p1, z0.detach(), ranks));
}

} // namespace parallax::losses
