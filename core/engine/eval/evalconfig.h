// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"

#include <cstdint>

namespace parallax::eval {

struct EvalConfig {
    std::int64_t everyEpochs = 1;
    std::int64_t knnK = 200;
    double knnT = 0.1;
    std::int64_t bankLimit = 0;
    std::int64_t queryLimit = 0;
    bool untrained = true;
    std::int64_t qualityImages = 1000;
    std::int64_t batchSize = 256;
    static void describe(config::Group<EvalConfig> &group);
};

} // namespace parallax::eval
