// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <vector>

namespace parallax::losses {

struct WmseOptions {
    WmseOptions(std::int64_t d) : d(d) { }
    std::int64_t d; ///< width of the embeddings
    std::int64_t views = 2;
    std::int64_t size = 256;     ///< rows that are whitened together; at least twice d keeps it stable
    std::int64_t iterations = 1; ///< times that the batch is cut anew
    double momentum = 0.01;      ///< of the running statistics
    double eps = 0;              ///< share of the identity in the covariance
};

/// W-MSE (Ermolov et al. 2021, arXiv:2007.06346): views agree after whitening, which no constant survives.
class WmseImpl : public torch::nn::Module
{
public:
    explicit WmseImpl(const WmseOptions &options);

    /// z: [V·n, d], view-major. The images of all ranks, in the order of a permutation, are cut into pieces of `size`; every
    /// view of a piece is whitened by y = L⁻¹(z − mean), L Lᵀ its covariance; then 2 − 2 · mean cosine, mean over the pairs
    /// of views and the iterations. `permutations`: one [N] an iteration; empty: drawn by rank 0. In evaluation the running
    /// statistics whiten. Returns the whole batch's loss on every rank; its gradient is world times the own share. Throws
    /// c10::Error for shapes that do not match, and when `size` does not divide N.
    torch::Tensor forward(const torch::Tensor &z, const dist::Ranks &ranks,
                          const std::vector<torch::Tensor> &permutations = {});

    torch::Tensor running_mean;     ///< [1, d, 1, 1], starts at 0
    torch::Tensor running_variance; ///< [d, d], a covariance, starts at the identity

private:
    torch::Tensor whitened(const torch::Tensor &rows);

    WmseOptions m_options;
};
TORCH_MODULE(Wmse);

} // namespace parallax::losses
