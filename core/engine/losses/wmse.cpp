// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/wmse.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

WmseImpl::WmseImpl(const WmseOptions &options) : m_options(options)
{
    TORCH_CHECK(options.size >= 2 * options.d, "W-MSE whitens ", options.size, " rows of ", options.d,
                " values: it needs at least twice as many rows as values");
    TORCH_CHECK(options.views >= 2 && options.iterations >= 1, "W-MSE needs two views and an iteration");
    running_mean = register_buffer("running_mean", torch::zeros({1, options.d, 1, 1}));
    running_variance = register_buffer("running_variance", torch::eye(options.d));
}

torch::Tensor WmseImpl::whitened(const torch::Tensor &rows)
{
    torch::Tensor mean = rows.mean(0);
    torch::Tensor centred = rows - mean;
    torch::Tensor covariance = torch::matmul(centred.t(), centred) / double(rows.size(0) - 1);
    if (is_training()) {
        torch::NoGradGuard noGrad;
        running_mean.mul_(1 - m_options.momentum).add_(mean.view_as(running_mean), m_options.momentum);
        running_variance.mul_(1 - m_options.momentum).add_(covariance, m_options.momentum);
    } else {
        centred = rows - running_mean.flatten();
        covariance = running_variance.to(rows.scalar_type());
    }
    const torch::Tensor shrunk =
        (1 - m_options.eps) * covariance + m_options.eps * torch::eye(m_options.d, covariance.options());
    // Rows y = L⁻¹ x: the triangular system of all rows at once.
    return torch::linalg_solve_triangular(torch::linalg_cholesky(shrunk), centred.t(), /*upper=*/false).t();
}

torch::Tensor WmseImpl::forward(const torch::Tensor &z, const dist::Ranks &ranks,
                                const std::vector<torch::Tensor> &permutations)
{
    const std::int64_t views = m_options.views, d = m_options.d;
    TORCH_CHECK(z.dim() == 2 && z.size(1) == d && z.size(0) % views == 0, "W-MSE takes ", views, " views of width ", d,
                ", not ", z.sizes());
    const torch::Tensor images = widened(z).view({views, -1, d}).transpose(0, 1); // [n, V, d]
    const torch::Tensor all = ranks.gather(images.contiguous());                  // [N, V, d]
    const std::int64_t total = all.size(0);
    TORCH_CHECK(total >= m_options.size && total % m_options.size == 0, "W-MSE cannot cut ", total,
                " images into pieces of ", m_options.size);
    torch::Tensor sum = torch::zeros({}, all.options());
    for (std::int64_t i = 0; i < m_options.iterations; ++i) {
        torch::Tensor order = permutations.empty()
            ? torch::randperm(total, torch::TensorOptions(torch::kInt64)).to(z.device())
            : permutations.at(std::size_t(i)).to(z.device());
        if (permutations.empty()) ranks.broadcast(order, 0);
        std::vector<torch::Tensor> pieces;
        for (const auto &piece : all.index_select(0, order).split(m_options.size)) {
            std::vector<torch::Tensor> white;
            for (std::int64_t v = 0; v < views; ++v) white.push_back(normalised(whitened(piece.select(1, v))));
            pieces.push_back(torch::stack(white, 1));
        }
        const torch::Tensor units = torch::cat(pieces); // [N, V, d]
        for (std::int64_t v = 0; v + 1 < views; ++v)
            for (std::int64_t w = v + 1; w < views; ++w)
                sum = sum + 2 - 2 * (units.select(1, v) * units.select(1, w)).sum(1).mean();
    }
    return sum / double(m_options.iterations * views * (views - 1) / 2);
}

} // namespace parallax::losses
