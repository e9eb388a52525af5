// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/embedding/store.h"
#include "core/engine/data/dataset.h"

#include <torch/torch.h>

#include <filesystem>
#include <memory>
#include <string>

namespace parallax::train {

struct EmbeddingTarget {
    std::filesystem::path folder; ///< replaced when it is there
    int epoch = 0;
    std::int64_t step = 0;
    std::string split = "train";
};

/// Stores `features` [N, D] of all N images of `data` with names, labels and thumbnails, in target.folder. Written beside it
/// and renamed when whole. An image that cannot be decoded gets an empty thumbnail.
Status writeEmbedding(const EmbeddingTarget &target, const data::Dataset &data, const torch::Tensor &features);

} // namespace parallax::train
