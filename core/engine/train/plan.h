// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"
#include "core/engine/train/experiment.h"

#include <map>
#include <string>
#include <vector>

namespace parallax::train {

/// What an experiment comes to on its data.
struct Plan {
    std::int64_t images = 0, valImages = 0;
    bool labelled = false;
    std::int64_t batch = 0;                 ///< of one optimiser step, over all ranks
    std::int64_t part = 0;                  ///< of it that goes through the network at once: batch / train.accumulate
    std::vector<std::int64_t> batchPerRank; ///< of one part
    std::int64_t stepsPerEpoch = 0;
    std::int64_t steps = 0;  ///< of the whole run
    std::int64_t epochs = 0; ///< that those steps reach into
    double rate = 0;         ///< learning rate after scaling by the batch size
    std::vector<std::string> warnings;
    std::map<std::string, std::string> concerns; ///< those of the warnings that blame a single setting, by its key
};

/// Whether the network takes the views that the method wants. The Error's `where` is the setting to blame.
Status checkViews(const Experiment &experiment);

/// Errors: more images in a batch than there are, fewer than ranks, batch norm over a single image, unequal parts of a batch, and
/// those of checkViews.
Result<Plan> makePlan(const Experiment &experiment, const data::Splits &splits, int world);

} // namespace parallax::train
