// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/frossl.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor froSsl(const std::vector<torch::Tensor> &views, double invariance, const dist::Ranks &ranks)
{
    TORCH_CHECK(views.size() > 1, "FroSSL needs two views");
    for (const auto &view : views)
        TORCH_CHECK(view.dim() == 2 && view.sizes() == views[0].sizes(), "FroSSL takes views of one shape [n, d], not ",
                    view.sizes(), " beside ", views[0].sizes());
    const torch::Tensor all = ranks.gather(widened(torch::stack(views, 1))); // [N, V, d]
    const torch::Tensor z = normalised(all, 0).transpose(0, 1);              // [V, N, d]
    const bool tall = z.size(1) > z.size(2);
    // ZᵀZ and ZZᵀ have the same norm and trace: the smaller one.
    const torch::Tensor gram = tall ? torch::matmul(z.transpose(1, 2), z) : torch::matmul(z, z.transpose(1, 2));
    const torch::Tensor trace = gram.diagonal(0, 1, 2).sum(1).detach().clamp_min(1e-12);
    const torch::Tensor spread = 2 * (gram.norm(2, {1, 2}) / trace).clamp_min(1e-12).log().sum();
    const torch::Tensor difference = (z - z.mean(0)).square().mean({1, 2}).sum();
    return spread + invariance * double(z.size(0) * z.size(2)) * difference;
}

} // namespace parallax::losses
