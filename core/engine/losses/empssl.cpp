// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/empssl.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor codingRate(const std::vector<torch::Tensor> &views, double eps, const dist::Ranks &ranks)
{
    const torch::Tensor z = widened(torch::stack(views)); // [V, n, d]
    const double d = double(z.size(2)), total = double(ranks.offsetOf(z.size(1)).second);
    const torch::Tensor gram = ranks.sum(torch::matmul(z.transpose(1, 2), z)); // [V, d, d]
    const torch::Tensor code = torch::eye(z.size(2), z.options()) + d / (total * eps) * gram;
    // ½ log det = Σ log of the diagonal of its Cholesky factor
    return torch::linalg_cholesky(code).diagonal(0, 1, 2).log().sum(1).mean();
}

torch::Tensor empSsl(const std::vector<torch::Tensor> &views, double eps, double invariance, const dist::Ranks &ranks)
{
    TORCH_CHECK(!views.empty(), "EMP-SSL needs a view");
    for (const auto &view : views)
        TORCH_CHECK(view.dim() == 2 && view.sizes() == views[0].sizes(), "EMP-SSL takes views of one shape [n, d], not ",
                    view.sizes(), " beside ", views[0].sizes());
    const torch::Tensor z = widened(torch::stack(views, 1)); // [n, V, d]
    const torch::Tensor mean = z.mean(1, /*keepdim=*/true);
    const torch::Tensor cosine = (normalised(z, 2, 1e-8) * normalised(mean, 2, 1e-8)).sum(2);
    return -codingRate(views, eps, ranks) - invariance * rankMean(cosine, ranks);
}

} // namespace parallax::losses
