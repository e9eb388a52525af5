// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor widened(const torch::Tensor &x) { return x.scalar_type() == torch::kFloat64 ? x : x.to(torch::kFloat32); }

torch::Tensor normalised(const torch::Tensor &x, std::int64_t dim, double eps)
{
    return torch::nn::functional::normalize(widened(x),
                                            torch::nn::functional::NormalizeFuncOptions().p(2).dim(dim).eps(eps));
}

torch::Tensor rankMean(const torch::Tensor &values, const dist::Ranks &ranks)
{
    const std::int64_t rows = values.size(0), total = ranks.offsetOf(rows).second;
    const std::int64_t perRow = rows > 0 ? values.numel() / rows : 1;
    return values.sum() * (double(ranks.world()) / double(total * perRow));
}

torch::Tensor globalMean(const torch::Tensor &values, const dist::Ranks &ranks)
{
    return ranks.sum(rankMean(values, ranks)) / double(ranks.world());
}

torch::Tensor logSumExpOfRows(const torch::Tensor &values, const dist::Ranks &ranks)
{
    torch::Tensor most = values.detach().amax(0);
    ranks.allReduceMax(most);
    return ranks.sum((values - most).exp().sum(0)).log() + most;
}

torch::Tensor offDiagonal(const torch::Tensor &square)
{
    const auto options = torch::TensorOptions(torch::kBool).device(square.device());
    return square.masked_fill(torch::eye(square.size(-1), options), 0);
}

torch::Tensor softCrossEntropy(const torch::Tensor &target, const torch::Tensor &logits)
{
    return -(target * logits.log_softmax(-1)).sum(-1);
}

std::vector<torch::Tensor> gatherTogether(const std::vector<torch::Tensor> &rows, const dist::Ranks &ranks)
{
    std::vector<std::int64_t> widths;
    for (const auto &part : rows) widths.push_back(part.size(1));
    return ranks.gather(torch::cat(rows, 1)).split_with_sizes(widths, 1);
}

torch::Tensor randomDirections(std::int64_t d, std::int64_t count, const torch::TensorOptions &options,
                               const dist::Ranks &ranks)
{
    torch::Tensor directions = torch::randn({d, count}, options);
    ranks.broadcast(directions, 0);
    return normalised(directions, 0);
}

} // namespace parallax::losses
