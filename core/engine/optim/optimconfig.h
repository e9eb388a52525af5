// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"

#include <cstdint>
#include <string>

namespace parallax::optim {

struct OptimConfig {
    std::string name = "sgd";
    double baseLr = 0.06;
    std::int64_t lrReferenceBatch = 256;
    double momentum = 0.9;
    double weightDecay = 5e-4;
    std::string weightDecaySchedule = "constant";
    double weightDecayEnd = 0.4;
    bool nesterov = false;
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    double trustCoefficient = 0.001;
    std::string schedule = "cosine";
    double warmupEpochs = 0;
    double endLr = 0;
    bool excludeBiasNormWd = false;
    bool excludeBiasNormLars = true;
    static void describe(config::Group<OptimConfig> &group);
};

/// base_lr · batch / lr_reference_batch (Goyal et al. 2017, arXiv:1706.02677); base_lr itself without a reference batch.
double scaledLearningRate(const OptimConfig &config, std::int64_t globalBatch);

} // namespace parallax::optim
