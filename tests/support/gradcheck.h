// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace gradcheck {

/// The largest error of autograd's gradients of the sum over ranks of `loss`, against central differences, relative to
/// max(1, |gradient|). `inputs`: this rank's float64 leaves that require a gradient and that `loss` reads anew at each call.
/// Every rank must call it with the same number of inputs, of any size.
inline double worstError(const parallax::dist::Ranks &ranks, const std::vector<torch::Tensor> &inputs,
                         const std::function<torch::Tensor()> &loss)
{
    constexpr double step = 1e-6;
    const auto total = [&] {
        torch::NoGradGuard noGrad;
        torch::Tensor sum = loss().detach().clone();
        ranks.allReduceSum(sum);
        return sum.item<double>();
    };
    for (const auto &input : inputs) input.mutable_grad().reset();
    loss().backward();
    torch::Tensor worst = torch::zeros({1}, torch::kFloat64);
    for (const auto &input : inputs) {
        double *values = input.data_ptr<double>();
        const torch::Tensor gradient = input.grad().contiguous();
        const auto counts = ranks.counts(input.numel());
        for (int rank = 0; rank < ranks.world(); ++rank)
            for (std::int64_t i = 0; i < counts[std::size_t(rank)]; ++i) {
                const bool own = rank == ranks.rank();
                const double kept = own ? values[i] : 0;
                if (own) values[i] = kept + step;
                const double above = total();
                if (own) values[i] = kept - step;
                const double below = total();
                if (!own) continue;
                values[i] = kept;
                const double analytic = gradient.data_ptr<double>()[i], numeric = (above - below) / (2 * step);
                const double error = std::abs(analytic - numeric) / std::max(1.0, std::abs(analytic));
                worst[0] = std::max(worst[0].item<double>(), error);
            }
    }
    ranks.allReduceMax(worst);
    return worst.item<double>();
}

} // namespace gradcheck
