// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/points.h"

namespace parallax::embedding {

/// The k nearest rows of each of many rows, nearest first, equal distances by number.
struct KnnGraph {
    std::int64_t size = 0;               ///< rows that asked
    int k = 0;                           ///< min(k asked for, rows there are to find)
    std::vector<std::int32_t> neighbour; ///< [size, k], numbers among the points
    std::vector<float> distance; ///< [size, k], in units of the points, from differences in double: equal rows give 0

    const std::int32_t *neighbours(std::int64_t row) const { return neighbour.data() + row * k; }
    const float *distances(std::int64_t row) const { return distance.data() + row * k; }
};

struct SearchOptions {
    int threads = 0;                           ///< 0: one a core; the graph is the same for any number
    const std::atomic<bool> *cancel = nullptr; ///< set: an Error, within a moment
    std::uint64_t seed = 1;                    ///< of the approximate search
    /// Multiplications that an exact search may cost (points² × dim); beyond it the approximate one is taken. The default is
    /// about a minute of one core: 150,000 rows of 128 numbers.
    double exactWork = 3e12;
};

/// Every point's neighbours among the others.
Result<KnnGraph> nearestGraph(const Points &points, int k, const SearchOptions &options = {});
/// The neighbours that `questions` have among `points` (a row that is in both finds itself); exact. Both of one system: Points::alike.
Result<KnnGraph> nearestAmong(const Points &points, const Points &questions, int k, const SearchOptions &options = {});

/// HNSW (Malkov, Yashunin 2018; hnswlib): points are inserted one after the other, whatever the number of threads, and the
/// questions are shared out; so a seed gives one graph. `nearestGraph` takes it for large sets.
Result<KnnGraph> approximateGraph(const Points &points, int k, const SearchOptions &options = {});

} // namespace parallax::embedding
