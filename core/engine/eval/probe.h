// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/data/dataset.h"
#include "core/engine/data/loader.h"
#include "core/engine/dist/ranks.h"
#include "core/engine/eval/probeconfig.h"
#include "core/engine/methods/method.h"

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace parallax::eval {

/// Images to learn from and images to be judged by, under one list of classes, none without a label.
struct LabelledData {
    std::shared_ptr<const data::Dataset> train, val;
    data::AugmentConfig augment;   ///< size, mean and standard deviation of what the network sees
    int threads = 1, prefetch = 2; ///< of the loader
};

struct EpochScore {
    std::int64_t epoch = 0;    ///< whole epochs done
    double loss = 0;           ///< cross-entropy, mean over the epoch's training images
    double top1 = 0, top5 = 0; ///< shares of the validation images; top5 is 1 with at most 5 classes
};

/// How training with one learning rate went.
struct RateCurve {
    double lr = 0;                  ///< per 256 images
    double scaled = 0;              ///< lr · batch / 256: that of the first step
    std::vector<EpochScore> epochs; ///< one each; fewer when it diverged
    bool diverged = false;          ///< the loss or a weight became NaN or infinite in the epoch after the last of these
    const EpochScore &best() const; ///< the highest top-1, the earliest of equals
    const EpochScore &last() const { return epochs.back(); }
};

struct ProbeResult {
    std::vector<RateCurve> curves; ///< in the order of ProbeConfig::lr
    std::size_t chosen = 0;        ///< the curve with the highest top-1 after the last epoch, the first of equals
    torch::Tensor weight, bias;    ///< [classes, D], [classes]: the chosen linear layer after the last epoch, on the CPU
    torch::Tensor labels, guesses; ///< [n] int64 each: of the validation images that can be read, after the last epoch
    std::int64_t batch = 0;        ///< images of a step
    std::int64_t stepsPerEpoch = 0;
    std::vector<data::Loader::Unreadable> unreadable; ///< of both parts
    const RateCurve &curve() const { return curves[chosen]; }
};

/// Told after every epoch.
using ProbeProgress = std::function<void(const std::vector<RateCurve> &curves)>;

/// Trains a linear layer on a network's features and measures it after every epoch.
///
/// Mode "linear": the network is frozen in evaluation mode, so that not a bit of it changes (Zhang et al. 2016,
/// arXiv:1603.08511); every learning rate has a linear layer of its own on the same features, and each goes as if it were alone.
/// Mode "finetune": all of the network's backbone learns with it, in training mode. Both: stochastic gradient descent with
/// momentum, cross-entropy, half a cosine over all steps, random resized crop and flip; judged on centre crops. Protocol and
/// defaults as in lightly's benchmarks. Everything follows from the configuration's seed.
///
/// Single process: `ranks` of one. Errors: no learning rate, features or losses that are not finite. Throws std::runtime_error
/// when no image can be read.
Result<ProbeResult> probe(methods::Method &method, const LabelledData &data, const ProbeConfig &config,
                          const dist::Ranks &ranks, const ProbeProgress &progress = {});

/// The views that `probe` makes: of training images, random; of validation images, not.
data::ViewSpec trainingView(const data::AugmentConfig &augment, const ProbeConfig &config);
data::ViewSpec validationView(const data::AugmentConfig &augment, const ProbeConfig &config);

} // namespace parallax::eval
