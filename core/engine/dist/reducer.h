// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <memory>
#include <string>
#include <vector>

namespace parallax::dist {

struct ReducerOptions {
    /// Parameters that take no part in a step's loss are searched for in the graph and count as zero gradients. Costs a walk
    /// over the graph each step; off, such a parameter is an error.
    bool findUnused = false;
    double bucketMb = 25; ///< gradients are averaged in buckets of about so many MiB, while backward still runs
};

/// Averages gradients over the ranks during backward (c10d::Reducer, as DistributedDataParallel uses). Each step:
/// prepareForward(), forward, prepareBackward(outputs), backward; then every .grad holds the mean over ranks, the same bits on
/// every rank. With one rank all calls do nothing. Clear gradients by setting them undefined, not by zeroing in place.
class GradientReducer
{
public:
    /// `params` in the order of the forward; `names` for messages. Both the same on every rank.
    GradientReducer(std::vector<torch::Tensor> params, const std::vector<std::string> &names,
                    std::shared_ptr<const Ranks> ranks, const ReducerOptions &options = {});
    explicit GradientReducer(const torch::nn::Module &module, std::shared_ptr<const Ranks> ranks,
                             const ReducerOptions &options = {});
    ~GradientReducer();

    void prepareForward();
    /// `outputs`: what backward starts from (the loss); searched through only with findUnused.
    void prepareBackward(const std::vector<torch::Tensor> &outputs);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Parameters and buffers of every rank become rank 0's.
void broadcastState(torch::nn::Module &module, const Ranks &ranks);
/// Buffers alone: without SyncBatchNorm each rank has running statistics of its own until rank 0's are taken.
void broadcastBuffers(torch::nn::Module &module, const Ranks &ranks);

} // namespace parallax::dist
