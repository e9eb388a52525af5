// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"
#include "core/engine/dist/ranks.h"
#include "core/engine/eval/quality.h"
#include "core/engine/train/experiment.h"

#include <memory>
#include <string>
#include <vector>

namespace parallax::train {

/// What an evaluation found: kNN accuracy with what it was measured by, where there are labels, and the features' quality.
struct Score {
    bool hasKnn = false;
    double top1 = 0, top5 = 0;
    std::int64_t k = 0, bank = 0, queries = 0, classes = 0;
    double temperature = 0, seconds = 0;
    eval::FeatureQuality quality;
    std::vector<std::string> warnings;
    nlohmann::ordered_json toJson() const; ///< fields of the eval event
};

/// Images and their features, row by row: those that cannot be read are left out.
struct ReadableFeatures {
    std::shared_ptr<const data::Dataset> data;
    torch::Tensor features;      ///< [data->size(), D]
    std::int64_t unreadable = 0; ///< images left out
};

/// Measures features while training: all ranks compute a share of them, each gets all. The network is left as it was.
class Evaluator
{
public:
    Evaluator(const Experiment &experiment, const data::Splits &splits, std::shared_ptr<const dist::Ranks> ranks,
              int ranksHere);

    /// Evaluation is on, and there is something to measure.
    bool enabled() const { return hasKnn() || measuresQuality(); }
    std::int64_t bankSize() const; ///< images that vote; 0: no kNN
    std::int64_t querySize() const;
    Score run(methods::Method &method) const;
    /// Features of all of `data`, as evaluation sees an image. All ranks must call this.
    ReadableFeatures features(methods::Method &method, const std::shared_ptr<const data::Dataset> &data) const;

private:
    /// There are labelled images to vote and to be judged.
    bool hasKnn() const { return m_bank && m_queries; }
    bool measuresQuality() const { return m_experiment.eval.everyEpochs > 0 && m_experiment.eval.qualityImages > 0; }
    void addKnn(methods::Method &method, Score &score) const;

    const Experiment &m_experiment;
    std::shared_ptr<const dist::Ranks> m_ranks;
    int m_loaderThreads;
    std::shared_ptr<const data::Dataset> m_train;
    std::shared_ptr<const data::Dataset> m_bank, m_queries; ///< null: no kNN
};

} // namespace parallax::train
