// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"
#include "core/engine/dist/ranks.h"
#include "core/engine/train/experiment.h"

#include <memory>
#include <string>
#include <vector>

namespace parallax::train {

/// kNN accuracy with what it was measured by.
struct KnnScore {
    double top1 = 0, top5 = 0;
    std::int64_t k = 0, bank = 0, queries = 0, classes = 0;
    double temperature = 0, seconds = 0;
    std::vector<std::string> warnings;
    nlohmann::ordered_json toJson() const; ///< fields of the eval event
};

/// Measures features while training: all ranks compute a share of them, each gets all. The network is left as it was.
/// Images and their features, row by row: those that cannot be read are left out.
struct ReadableFeatures {
    std::shared_ptr<const data::Dataset> data;
    torch::Tensor features;      ///< [data->size(), D]
    std::int64_t unreadable = 0; ///< images left out
};

class Evaluator
{
public:
    Evaluator(const Experiment &experiment, const data::Splits &splits, std::shared_ptr<const dist::Ranks> ranks,
              int ranksHere);

    /// There are labelled images to vote and to be judged, and evaluation is on.
    bool enabled() const { return m_bank && m_queries; }
    std::int64_t bankSize() const; ///< images that vote; 0: no kNN
    std::int64_t querySize() const;
    KnnScore run(methods::Method &method) const;
    /// Features of all of `data`, as evaluation sees an image. All ranks must call this.
    ReadableFeatures features(methods::Method &method, const std::shared_ptr<const data::Dataset> &data) const;

private:
    const Experiment &m_experiment;
    std::shared_ptr<const dist::Ranks> m_ranks;
    int m_loaderThreads;
    std::shared_ptr<const data::Dataset> m_bank, m_queries; ///< null: no kNN
};

} // namespace parallax::train
