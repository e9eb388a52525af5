// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/sinkhorn.h"

#include "core/engine/losses/tensors.h"

#include <cmath>

namespace parallax::losses {

namespace {

/// log(exp(x) + floor)
torch::Tensor raised(const torch::Tensor &x, double floor)
{
    return floor > 0 ? x.logaddexp(torch::full({}, std::log(floor), x.options())) : x;
}

torch::Tensor balanced(torch::Tensor logs, int iterations, double floor, const dist::Ranks &ranks)
{
    for (int i = 0; i < iterations; ++i) {
        logs = logs - raised(logSumExpOfRows(logs, ranks), floor);
        logs = logs - raised(logs.logsumexp(-1, /*keepdim=*/true), floor);
    }
    return logs;
}

} // namespace

torch::Tensor sinkhorn(const torch::Tensor &logits, int iterations, const dist::Ranks &ranks)
{
    torch::NoGradGuard noGrad;
    TORCH_CHECK(logits.dim() == 2, "Sinkhorn takes logits [n, K], not ", logits.sizes());
    const torch::Tensor logs = widened(logits);
    if (iterations > 0) return balanced(logs, iterations, 0, ranks).exp(); // any scaling before cancels
    const double total = double(ranks.offsetOf(logs.size(0)).second);
    return (logs - logSumExpOfRows(logs.logsumexp(1), ranks) + std::log(total)).exp();
}

torch::Tensor positionwiseSinkhorn(const torch::Tensor &logits, int iterations, double floor, const dist::Ranks &ranks)
{
    torch::NoGradGuard noGrad;
    TORCH_CHECK(logits.dim() == 3, "Position-wise Sinkhorn takes logits [n, m, K], not ", logits.sizes());
    const torch::Tensor logs = widened(logits);
    torch::Tensor most = logs.amax(0);
    ranks.allReduceMax(most);
    return balanced(logs - most, iterations, floor, ranks).exp();
}

} // namespace parallax::losses
