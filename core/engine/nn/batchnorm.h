// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <memory>

namespace parallax::nn {

struct BatchNormOptions {
    BatchNormOptions(std::int64_t channels) : features(channels) { } ///< BatchNorm(64) reads as in torch
    std::int64_t features;
    double eps = 1e-5, momentum = 0.1;
    bool affine = true;
};

/// Batch normalisation of [n, C] or [n, C, …] (Ioffe and Szegedy 2015, arXiv:1502.03167) with torch's names in the state
/// dict. Once synchronised, training statistics are those of all ranks' rows together, on any device: weighted by the true
/// counts (ranks may hold different numbers of rows), running_var unbiased over the global count. The gradients are those of
/// the sum of the ranks' losses, so that DDP's mean equals the gradient of one process with the whole batch.
/// Throws c10::Error when a channel has a single value over all ranks.
class BatchNormImpl : public torch::nn::Module
{
public:
    explicit BatchNormImpl(const BatchNormOptions &options);
    torch::Tensor forward(const torch::Tensor &x);
    void pretty_print(std::ostream &stream) const override;

    void synchronise(std::shared_ptr<const dist::Ranks> ranks) { m_ranks = std::move(ranks); }
    bool isSynchronised() const { return m_ranks != nullptr; }

    torch::Tensor weight, bias; ///< [C]; undefined without affine
    torch::Tensor running_mean, running_var, num_batches_tracked;

private:
    BatchNormOptions m_options;
    std::shared_ptr<const dist::Ranks> m_ranks;
};
TORCH_MODULE(BatchNorm);

/// Makes the statistics of every BatchNorm in `module` global. One rank: nothing changes.
void enableSyncBatchNorm(torch::nn::Module &module, const std::shared_ptr<const dist::Ranks> &ranks);

} // namespace parallax::nn
