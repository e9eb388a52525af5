// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/vicreg.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor varianceTerm(const torch::Tensor &x, double eps)
{
    return (1 - (x.var(0, /*unbiased=*/true) + eps).sqrt()).relu().mean();
}

torch::Tensor covarianceTerm(const torch::Tensor &x)
{
    const std::int64_t n = x.size(0), d = x.size(-1);
    const torch::Tensor places = (x - x.mean(0)).reshape({n, -1, d}).transpose(0, 1);               // [m, N, d]
    const torch::Tensor covariance = torch::matmul(places.transpose(1, 2), places) / double(n - 1); // [m, d, d]
    return offDiagonal(covariance).square().sum({1, 2}).mean() / double(d);
}

torch::Tensor vicReg(const torch::Tensor &x, const torch::Tensor &y, const VicRegOptions &options, const dist::Ranks &ranks)
{
    TORCH_CHECK(x.dim() >= 2 && x.sizes() == y.sizes(), "VICReg takes two tensors of one shape [n, …, d], not ", x.sizes(),
                " and ", y.sizes());
    const torch::Tensor all = ranks.gather(torch::stack({widened(x), widened(y)}, 1)); // [N, 2, …, d]
    TORCH_CHECK(all.size(0) > 1, "VICReg needs two rows: one has no variance");
    const torch::Tensor first = all.select(1, 0), second = all.select(1, 1);
    const torch::Tensor variance = 0.5 * (varianceTerm(first, options.eps) + varianceTerm(second, options.eps));
    const torch::Tensor covariance = covarianceTerm(first) + covarianceTerm(second);
    return options.invariance * rankMean((widened(x) - widened(y)).square(), ranks) + options.variance * variance +
        options.covariance * covariance;
}

} // namespace parallax::losses
