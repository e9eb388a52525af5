// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runs/events.h"
#include "core/runs/runfolder.h"

#include <filesystem>

namespace parallax::fake {

struct TrainCall {
    std::filesystem::path run, store;
    int rank = 0, world = 1;
    bool resume = false;
};
int train(const TrainCall &call);

/// A finished embeddings/epoch-N of `count` made-up items in four clusters; no thumbnails.
Status writeEmbedding(const runs::RunFolder &run, int epoch, std::int64_t count, std::int64_t dim);

} // namespace parallax::fake
