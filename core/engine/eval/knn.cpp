// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/eval/knn.h"

#include <algorithm>
#include <stdexcept>

namespace parallax::eval {

namespace {

constexpr double smallestNorm = 1e-12;

/// [n] bool: rows with a direction.
torch::Tensor hasDirection(const torch::Tensor &features)
{
    // An infinite or undefined entry makes the norm so.
    const torch::Tensor norm = torch::linalg_vector_norm(features, 2, at::OptionalIntArrayRef(1));
    return torch::isfinite(norm) & (norm > smallestNorm);
}

/// Rows of length 1; rows without direction as zeros, so that no NaN spreads into the similarities of others.
torch::Tensor unitRows(const torch::Tensor &features)
{
    const torch::Tensor wide = features.scalar_type() == torch::kFloat64 ? features : features.to(torch::kFloat32);
    const torch::Tensor clean = torch::where(hasDirection(wide).unsqueeze(1), wide, torch::zeros_like(wide));
    return torch::nn::functional::normalize(clean,
                                            torch::nn::functional::NormalizeFuncOptions().p(2).dim(1).eps(smallestNorm));
}

void checkBank(const torch::Tensor &bank, const torch::Tensor &labels, std::int64_t classes, const KnnOptions &options)
{
    if (options.k < 1 || options.k > bank.size(0))
        throw std::runtime_error("eval.knn_k is " + std::to_string(options.k) + ", but only " +
                                 std::to_string(bank.size(0)) +
                                 " labelled training images can vote. Set eval.knn_k to at most that many");
    if (labels.min().item<std::int64_t>() < 0 || labels.max().item<std::int64_t>() >= classes)
        throw std::runtime_error("A bank image has a label outside 0 … " + std::to_string(classes - 1));
}

/// Rows with a label and an image of their own.
void keepVoters(FeatureSet &set)
{
    const torch::Tensor kept = (set.labels >= 0) & (set.replaced == 0);
    if (kept.all().item<bool>()) return;
    set.features = set.features.index({kept});
    set.labels = set.labels.index({kept});
}

FeatureSet labelledFeatures(methods::Method &method, const std::shared_ptr<const data::Dataset> &dataset, std::int64_t limit,
                            bool gather, const KnnData &data, const EvalConfig &config, const dist::Ranks &ranks)
{
    ExtractOptions options;
    options.augment = data.augment;
    options.index = evenly(dataset->size(), limit);
    options.batchSize = config.batchSize;
    options.threads = data.threads;
    options.prefetch = data.prefetch;
    options.gather = gather;
    FeatureSet set = extractFeatures(method, dataset, ranks, options);
    keepVoters(set);
    return set;
}

} // namespace

torch::Tensor knnPredict(const torch::Tensor &queries, const torch::Tensor &bank, const torch::Tensor &bankLabels,
                         std::int64_t classes, const KnnOptions &options)
{
    torch::NoGradGuard noGrad;
    checkBank(bank, bankLabels, classes, options);
    const torch::Tensor unitBank = unitRows(bank).t(), unitQueries = unitRows(queries);
    const auto widest = std::uint64_t(std::max(bank.size(0), classes)) * unitQueries.element_size();
    const auto rows = std::int64_t(std::max<std::uint64_t>(1, options.memoryLimit / widest));
    std::vector<torch::Tensor> ranked;
    for (std::int64_t begin = 0; begin < queries.size(0); begin += rows) {
        const torch::Tensor chunk = unitQueries.narrow(0, begin, std::min(rows, queries.size(0) - begin));
        const auto [similarity, neighbour] = torch::topk(torch::matmul(chunk, unitBank), options.k, 1); // falling
        // Relative to the best neighbour: the same order of classes, and exp(1 / t) cannot overflow.
        const torch::Tensor weight = ((similarity - similarity.narrow(1, 0, 1)) / options.t).exp();
        torch::Tensor votes = torch::zeros({chunk.size(0), classes}, weight.options());
        votes.scatter_add_(1, bankLabels.index({neighbour}), weight);
        ranked.push_back(std::get<1>(torch::sort(votes, /*stable=*/true, 1, /*descending=*/true)));
    }
    return ranked.empty() ? torch::empty({0, classes}, bankLabels.options()) : torch::cat(ranked);
}

std::int64_t degenerateRows(const torch::Tensor &features)
{
    return features.size(0) - hasDirection(features).sum().item<std::int64_t>();
}

KnnResult evaluateKnn(methods::Method &method, const KnnData &data, const EvalConfig &config, const dist::Ranks &ranks)
{
    const auto classes = std::int64_t(data.bank->classes().size());
    if (classes == 0)
        throw std::runtime_error(
            "kNN accuracy needs labels, and " + data.bank->source() +
            " has none. Put the images of each class into a folder of its own, or set eval.every_epochs to 0");
    const FeatureSet bank = labelledFeatures(method, data.bank, config.bankLimit, true, data, config, ranks);
    const FeatureSet queries = labelledFeatures(method, data.queries, config.queryLimit, false, data, config, ranks);

    if (bank.features.size(0) == 0)
        throw std::runtime_error("kNN accuracy needs labelled training images, and " + data.bank->source() + " has none");
    const std::int64_t k = std::min(config.knnK, bank.features.size(0));
    const torch::Tensor ranked = knnPredict(queries.features, bank.features, bank.labels, classes, {k, config.knnT});
    const torch::Tensor hits = ranked == queries.labels.unsqueeze(1); // [n, classes]: at most one true a row
    torch::Tensor sums =
        torch::stack({hits.narrow(1, 0, 1).sum(), hits.narrow(1, 0, std::min<std::int64_t>(5, classes)).sum(),
                      torch::tensor(hits.size(0), hits.options().dtype(torch::kInt64)),
                      torch::tensor(degenerateRows(queries.features), hits.options().dtype(torch::kInt64))});
    ranks.allReduceSum(sums);
    sums = sums.cpu();
    const std::int64_t count = sums[2].item<std::int64_t>();
    if (count == 0)
        throw std::runtime_error("kNN accuracy needs labelled evaluation images, and " + data.queries->source() +
                                 " has none");
    return {.top1 = sums[0].item<double>() / double(count),
            .top5 = sums[1].item<double>() / double(count),
            .k = k,
            .t = config.knnT,
            .bank = bank.features.size(0),
            .queries = count,
            .classes = classes,
            .degenerate = sums[3].item<std::int64_t>() + degenerateRows(bank.features)};
}

} // namespace parallax::eval
