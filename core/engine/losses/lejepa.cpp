// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/lejepa.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor centroidInvariance(const torch::Tensor &all, const torch::Tensor &global, const dist::Ranks &ranks)
{
    return rankMean((global.mean(0) - all).square().transpose(0, 1), ranks);
}

torch::Tensor leJepa(const torch::Tensor &local, const torch::Tensor &global, const torch::Tensor &directions,
                     const LeJepaOptions &options, const dist::Ranks &ranks)
{
    TORCH_CHECK(local.dim() == 3 && global.dim() == 3 && local.sizes().slice(1) == global.sizes().slice(1) &&
                    directions.dim() == 2 && directions.size(0) == local.size(2) && options.knots > 1,
                "LeJEPA takes views [V, n, d], [W, n, d] and directions [d, S], not ", local.sizes(), ", ", global.sizes(),
                " and ", directions.sizes());
    const torch::Tensor all = torch::cat({widened(global), widened(local)}); // [V + W, n, d]
    const double total = double(ranks.offsetOf(all.size(1)).second);
    // In float32, as the reference implementation has them: frequencies, the normal's characteristic function, the
    // trapezoids. The integrand is even: twice the integral from 0.
    const torch::Tensor t = torch::linspace(0, options.last, options.knots, torch::kFloat32);
    const torch::Tensor normal = (-t.square() / 2).exp();
    torch::Tensor width = torch::full({options.knots}, 2 * options.last / (options.knots - 1), torch::kFloat32);
    width[0] = width[-1] = options.last / (options.knots - 1);
    const torch::Tensor weight = (width * normal).to(all.options());

    const torch::Tensor projected = torch::matmul(all, normalised(directions, 0).to(all.scalar_type()));
    const torch::Tensor angles = projected.unsqueeze(3) * t.to(all.options()); // [V + W, n, S, knots]
    const torch::Tensor mean = ranks.sum(torch::stack({angles.cos().sum(1), angles.sin().sum(1)})) / total;
    const torch::Tensor error = (mean[0] - normal.to(all.options())).square() + mean[1].square();
    const torch::Tensor statistic = torch::matmul(error, weight).mean() * total;
    return options.lambda * statistic + (1 - options.lambda) * centroidInvariance(all, widened(global), ranks);
}

} // namespace parallax::losses
