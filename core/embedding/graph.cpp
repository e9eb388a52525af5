// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/graph.h"

#include "core/base/parallel.h"
#include "core/base/simd.h"
#include "core/embedding/candidates.h"
#include "core/embedding/panels.h"

namespace parallax::embedding {
namespace {

constexpr int high = Panels::high, wide = Panels::wide;
constexpr std::int64_t blockRows = 16 * high; ///< questions a task
constexpr std::int64_t cacheFloats =
    (256 << 10) / 4; ///< panels that all questions of a task meet while they are in the L2 cache

PARALLAX_VECTORISED
bool anyAbove(const float *scores, float bar)
{
    int any = 0;
    for (int i = 0; i < wide; ++i) any |= int(scores[i] > bar);
    return any != 0;
}

/// A task: the questions from `first` on, against all points. `self`: question i is point i, which is no answer to it.
void searchBlock(KnnGraph &graph, const Points &points, const Panels &panels, const Points &questions, std::int64_t first,
                 bool self)
{
    const std::int64_t rows = std::min(blockRows, questions.size() - first), dim = points.dim;
    std::vector<float> block(std::size_t(blockRows * dim), 0.0F);
    std::copy_n(questions.row(first), rows * dim, block.begin());
    std::vector<Candidates> candidates(std::size_t(rows), Candidates(std::size_t(graph.k + spareCandidates)));
    const std::int64_t together = std::max<std::int64_t>(1, cacheFloats / (std::max<std::int64_t>(dim, 1) * wide));
    alignas(64) float scores[high][wide];
    for (std::int64_t from = 0; from < panels.count(); from += together)
        for (std::int64_t six = 0; six < rows; six += high)
            for (std::int64_t panel = from; panel < std::min(from + together, panels.count()); ++panel) {
                panels.scores(panel, block.data() + six * dim, scores);
                for (std::int64_t q = six; q < std::min(six + high, rows); ++q) {
                    Candidates &best = candidates[std::size_t(q)];
                    if (!anyAbove(scores[q - six], best.bar())) continue;
                    for (int r = 0; r < wide; ++r)
                        if (scores[q - six][r] > best.bar() && !(self && panel * wide + r == first + q))
                            best.add(scores[q - six][r], std::int32_t(panel * wide + r));
                }
            }
    for (std::int64_t q = 0; q < rows; ++q) {
        std::vector<std::int32_t> items;
        for (const auto &entry : candidates[std::size_t(q)].best()) items.push_back(entry.item);
        settle(graph, first + q, questions.row(first + q), points, items);
    }
}

Result<KnnGraph> exactSearch(const Points &points, const Points &questions, int k, bool self, const SearchOptions &options)
{
    KnnGraph graph = emptyGraph(questions.size(), points.size() - (self ? 1 : 0), k);
    if (graph.k == 0) return graph;
    const Panels panels(points);
    parallelFor((questions.size() + blockRows - 1) / blockRows, options.threads, [&](std::int64_t block) {
        if (!isSet(options.cancel)) searchBlock(graph, points, panels, questions, block * blockRows, self);
    });
    if (isSet(options.cancel)) return searchCancelled();
    return graph;
}

} // namespace

Result<KnnGraph> nearestGraph(const Points &points, int k, const SearchOptions &options)
{
    const double n = double(points.size());
    if (n * n * double(points.dim) > options.exactWork) return approximateGraph(points, k, options);
    return exactSearch(points, points, k, true, options);
}

Result<KnnGraph> nearestAmong(const Points &points, const Points &questions, int k, const SearchOptions &options)
{
    return exactSearch(points, questions, k, false, options);
}

} // namespace parallax::embedding
