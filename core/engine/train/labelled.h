// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"
#include "core/engine/eval/probeconfig.h"
#include "core/engine/train/arguments.h"
#include "core/engine/train/experiment.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace parallax::train {

/// Images with labels to learn from and to be judged by. Both have the same classes; images without a label are left out.
struct LabelledSplits {
    std::shared_ptr<const data::Dataset> train, val;
    std::vector<std::int64_t> trainCounts, valCounts; ///< images by class
    nlohmann::ordered_json origin;                    ///< source and how it was split, as the evaluation's file has it
    std::vector<std::string> warnings;
};

/// The run's own images in the run's own split, or those of --data and --val-data. Errors: no labels, no validation images, a
/// class that only one of the two parts has, and all that data::openData refuses.
Result<LabelledSplits> openLabelled(const Experiment &experiment, const eval::ProbeConfig &probe,
                                    const Arguments &arguments);

} // namespace parallax::train
