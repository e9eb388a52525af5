// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/runs/runfolder.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace parallax::runs {

/// What is said of an evaluation in a list. Its file holds the whole: protocol, curves, per-class accuracy.
struct Evaluation {
    struct Score {
        std::int64_t epoch = 0;
        double top1 = 0, top5 = 0; ///< shares
        bool operator==(const Score &) const = default;
    };
    std::string mode;                 ///< "linear", "finetune"
    std::int64_t checkpointEpoch = 0; ///< of the run
    std::int64_t images = 0;          ///< that it was measured on
    double lr = 0;                    ///< per 256 images: the one that best and last are of
    Score best, last;                 ///< after the epoch with the highest top-1, and after the last
    std::filesystem::path file;

    nlohmann::ordered_json toJson() const; ///< for a list
    /// From the file's document.
    static Result<Evaluation> fromJson(const nlohmann::ordered_json &json);
};

/// The run's evaluations, oldest first; files that cannot be read are passed over.
std::vector<Evaluation> readEvaluations(const RunFolder &run);

/// Writes an evaluation's document; before it, `writeWeights` the weights beside it. Both whole or not at all, under names that
/// nothing had: an evaluation without its document does not count. Adds "weights", the name of their file, to the document.
/// Returns the file written.
Result<std::filesystem::path> storeEvaluation(const RunFolder &run, const std::string &mode, nlohmann::ordered_json document,
                                              const std::function<Status(const std::filesystem::path &)> &writeWeights);

} // namespace parallax::runs
