// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/loader.h"
#include "core/engine/dist/ranks.h"
#include "core/engine/methods/method.h"

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace parallax::eval {

/// Puts a module and all its parts into evaluation mode; on its end each part is as it was, also one that was in evaluation
/// mode before (a frozen network).
class EvalMode
{
public:
    explicit EvalMode(torch::nn::Module &module);
    ~EvalMode();
    EvalMode(const EvalMode &) = delete;
    EvalMode &operator=(const EvalMode &) = delete;

private:
    std::vector<std::pair<torch::nn::Module *, bool>> m_training;
};

struct ExtractOptions {
    data::AugmentConfig augment;       ///< size, mean and standard deviation of the centre crop
    std::vector<data::ViewSpec> views; ///< instead of the centre crop: these views of each image, by seed and epoch 0
    std::uint64_t seed = 0;
    std::vector<std::int64_t> index; ///< places in the data set, in the order wanted
    std::int64_t batchSize = 256;    ///< images through the network at once, a rank
    int threads = 1, prefetch = 2;   ///< of the loader, a rank
    bool gather = true;              ///< every rank gets all rows; false: its own share only
};

struct FeatureSet {
    torch::Tensor features;          ///< [n, D] on the ranks' device, as the network gives them
    std::vector<torch::Tensor> more; ///< the same of the second and further views
    torch::Tensor labels;            ///< [n] int64 on the same device; -1: no label
    torch::Tensor replaced;          ///< [n] uint8: 1 where the image could not be read and the row is another image's
    std::int64_t begin = 0;          ///< place in `index` of the first row: 0 when gathered
    std::vector<data::Loader::Unreadable> unreadable; ///< that this rank met
};

/// `size` places spread evenly over 0 … count - 1, in order; all of them for limit 0 or above count. Data sorted by class
/// keep their balance of classes.
std::vector<std::int64_t> evenly(std::int64_t count, std::int64_t limit);

/// Features of images, not augmented unless views are asked for, in evaluation mode, without gradient; weights, buffers and modes stay as they
/// are. Each rank computes its contiguous share of `index`, so all ranks must call this. Throws std::runtime_error when no
/// image can be read.
FeatureSet extractFeatures(methods::Method &method, const std::shared_ptr<const data::Dataset> &dataset,
                           const dist::Ranks &ranks, const ExtractOptions &options);

} // namespace parallax::eval
