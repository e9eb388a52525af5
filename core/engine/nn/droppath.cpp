// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/droppath.h"

#include <algorithm>

namespace parallax::nn {

torch::Tensor dropPath(const torch::Tensor &x, double rate, bool training)
{
    TORCH_CHECK(rate >= 0 && rate < 1, "A drop path rate lies in 0 … 1 (without 1), not ", rate);
    if (!training || rate == 0) return x;
    std::vector<std::int64_t> shape(std::size_t(x.dim()), 1);
    shape[0] = x.size(0);
    return x * torch::empty(shape, x.options()).bernoulli_(1 - rate).div_(1 - rate);
}

double dropPathRate(double last, std::int64_t index, std::int64_t count)
{
    return last * double(index) / double(std::max<std::int64_t>(1, count - 1));
}

} // namespace parallax::nn
