// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/evaluator.h"

#include "core/engine/data/subset.h"
#include "core/engine/eval/features.h"
#include "core/engine/eval/knn.h"
#include "core/engine/train/devices.h"
#include "core/engine/train/reporter.h"

#include <chrono>

namespace parallax::train {

nlohmann::ordered_json Score::toJson() const
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (hasKnn)
        json = {{"knn_top1", top1},   {"knn_top5", top5},  {"k", k}, {"temperature", temperature}, {"bank", bank},
                {"queries", queries}, {"classes", classes}};
    if (quality.images > 0) {
        json["feature_spread"] = figureToJson(quality.spread);
        json["rankme"] = figureToJson(quality.rankme);
        json["alignment"] = figureToJson(quality.alignment);
        json["uniformity"] = figureToJson(quality.uniformity);
        json["mean_cosine"] = figureToJson(quality.meanCosine);
        json["quality_images"] = quality.images;
    }
    json["seconds"] = seconds;
    return json;
}

Evaluator::Evaluator(const Experiment &experiment, const data::Splits &splits, std::shared_ptr<const dist::Ranks> ranks,
                     int ranksHere)
    : m_experiment(experiment), m_ranks(std::move(ranks)),
      m_loaderThreads(threadsFor(experiment.data.threads, Machine::usableCores(), ranksHere)), m_train(splits.train)
{
    if (experiment.eval.everyEpochs == 0 || splits.train->classes().empty() || !splits.val || splits.val->size() == 0)
        return;
    m_bank = splits.train;
    m_queries = splits.val;
}

std::int64_t Evaluator::bankSize() const
{
    return m_bank ? std::int64_t(eval::evenly(m_bank->size(), m_experiment.eval.bankLimit).size()) : 0;
}

std::int64_t Evaluator::querySize() const
{
    return m_queries ? std::int64_t(eval::evenly(m_queries->size(), m_experiment.eval.queryLimit).size()) : 0;
}

void Evaluator::addKnn(methods::Method &method, Score &score) const
{
    eval::KnnData data{m_bank, m_queries, m_experiment.augment};
    data.threads = m_loaderThreads;
    const eval::KnnResult result = eval::evaluateKnn(method, data, m_experiment.eval, *m_ranks);
    score.hasKnn = true;
    score.top1 = result.top1;
    score.top5 = result.top5;
    score.k = result.k;
    score.temperature = result.t;
    score.bank = result.bank;
    score.queries = result.queries;
    score.classes = result.classes;
    if (result.k < m_experiment.eval.knnK)
        score.warnings.push_back("kNN accuracy uses all " + std::to_string(result.k) + " training images: there are no " +
                                 std::to_string(m_experiment.eval.knnK) + " neighbours (eval.knn_k)");
    if (result.degenerate > 0)
        score.warnings.push_back("kNN accuracy is degenerate: " + std::to_string(result.degenerate) +
                                 " images have features that are zero or not finite");
}

Score Evaluator::run(methods::Method &method) const
{
    const auto start = std::chrono::steady_clock::now();
    Score score;
    if (hasKnn()) addKnn(method, score);
    if (measuresQuality()) {
        score.quality = eval::measureQuality(method, m_train, m_experiment.augment, m_experiment.eval.qualityImages,
                                             m_experiment.eval.batchSize, m_loaderThreads, *m_ranks);
        for (const auto &alarm : eval::alarms(score.quality)) score.warnings.push_back(alarm);
    }
    score.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return score;
}

ReadableFeatures Evaluator::features(methods::Method &method, const std::shared_ptr<const data::Dataset> &data) const
{
    eval::ExtractOptions options;
    options.augment = m_experiment.augment;
    options.index = eval::evenly(data->size(), 0);
    options.batchSize = m_experiment.eval.batchSize;
    options.threads = m_loaderThreads;
    const eval::FeatureSet set = eval::extractFeatures(method, data, *m_ranks, options);
    const auto places = (set.replaced == 0).nonzero().flatten();
    if (places.numel() == data->size()) return {data, set.features, 0};
    const auto host = places.to(torch::kCPU);
    std::vector<std::int64_t> kept(host.const_data_ptr<std::int64_t>(), host.const_data_ptr<std::int64_t>() + host.numel());
    return {std::make_shared<data::Subset>(data, std::move(kept), data->classes()),
            set.features.index_select(0, places.to(set.features.device())), data->size() - places.numel()};
}

} // namespace parallax::train
