// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/eval/evalconfig.h"
#include "core/engine/eval/features.h"

#include <torch/torch.h>

#include <cstdint>

namespace parallax::eval {

struct KnnOptions {
    std::int64_t k = 200;
    double t = 0.1;
    std::size_t memoryLimit = std::size_t(256) << 20; ///< bytes of the largest matrix: queries are taken in chunks
};

/// Weighted k nearest neighbours (Wu et al. 2018, arXiv:1805.01978): queries [n, D] and bank [m, D] are L2-normalised; each of
/// the k bank rows with the largest cosine similarity s votes for its class with exp(s / t). Returns the classes of each query
/// by falling votes, [n, classes] int64; equal votes in class order. Rows that are zero or not finite count as zero vectors.
/// Throws std::runtime_error when k is larger than the bank, or a bank label is no class.
torch::Tensor knnPredict(const torch::Tensor &queries, const torch::Tensor &bank, const torch::Tensor &bankLabels,
                         std::int64_t classes, const KnnOptions &options);

/// How many rows of [n, D] have no direction: all zero, or not finite. Their neighbours mean nothing.
std::int64_t degenerateRows(const torch::Tensor &features);

struct KnnResult {
    double top1 = 0, top5 = 0; ///< shares of the queries; top5 is 1 with at most 5 classes
    std::int64_t k = 0;        ///< as used: at most `bank`
    double t = 0;
    std::int64_t bank = 0, queries = 0, classes = 0;
    std::int64_t degenerate = 0; ///< rows of bank and queries without direction: above 0, say so beside the accuracy
};

/// What accuracy is measured on. `bank` and `queries` share their classes.
struct KnnData {
    std::shared_ptr<const data::Dataset> bank, queries;
    data::AugmentConfig augment;
    int threads = 1, prefetch = 2; ///< of the loader, a rank
};

/// kNN accuracy of a method's features: bank_limit and query_limit images of each set, features and queries shared among
/// the ranks (all of them must call this); every rank gets the same result. Images that have no label or cannot be read are
/// left out. With fewer images in the bank than knn_k all of them vote. Throws std::runtime_error for data without labels.
KnnResult evaluateKnn(methods::Method &method, const KnnData &data, const EvalConfig &config, const dist::Ranks &ranks);

} // namespace parallax::eval
