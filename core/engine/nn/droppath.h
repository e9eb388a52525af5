// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <memory>
#include <vector>

namespace parallax::nn {

/// Stochastic depth of a network (Huang et al. 2016, arXiv:1603.09382): while training, each residual branch of each image is
/// dropped with the branch's rate and else divided by 1 - rate, so that its expectation stays. It holds no weights.
class DropPathImpl final : public torch::nn::Module
{
public:
    /// Throws c10::Error for a rate outside 0 … 1 (without 1).
    explicit DropPathImpl(std::vector<double> rates);

    /// Decides for one pass over the images [n, …] which of them drop which branches. Draws from torch's generator for the rows
    /// of all ranks together, on the CPU: an image's luck depends neither on the number of ranks nor on the device. With rates
    /// of 0, or in evaluation, it draws nothing.
    void draw(const torch::Tensor &images);
    /// Branch `x` [n, …] as the last draw has it.
    torch::Tensor forward(const torch::Tensor &x, std::size_t branch) const;

    void setRanks(std::shared_ptr<const dist::Ranks> ranks) { m_ranks = std::move(ranks); }

private:
    std::vector<double> m_rates;
    torch::Tensor m_factors; ///< [n, branches]: 0 or 1 / (1 - rate); undefined: nothing is dropped
    std::shared_ptr<const dist::Ranks> m_ranks;
};
TORCH_MODULE(DropPath);

/// Rates of `blocks` blocks that have `branches` each, block by block: rising evenly from 0 at the first block to `last`.
std::vector<double> dropPathRates(double last, std::int64_t blocks, std::int64_t branches = 1);

/// Lets every DropPath in `module` draw for the rows of all ranks. All of them must then make the same passes.
void drawForAllRanks(torch::nn::Module &module, const std::shared_ptr<const dist::Ranks> &ranks);

} // namespace parallax::nn
