// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

namespace parallax::nn {

/// Stochastic depth (Huang et al. 2016, arXiv:1603.09382): while training, the residual branch `x` [n, …] of each image is
/// dropped with probability `rate` and else divided by 1 - rate, so that its expectation stays. Draws from torch's generator;
/// with rate 0, or in evaluation, it draws nothing and returns x.
torch::Tensor dropPath(const torch::Tensor &x, double rate, bool training);

/// The rate of block `index` of `count`: rises evenly from 0 to `last`.
double dropPathRate(double last, std::int64_t index, std::int64_t count);

} // namespace parallax::nn
