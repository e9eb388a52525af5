// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/parallel.h"
#include "core/base/simd.h"
#include "core/embedding/candidates.h"

#include <hnswlib/hnswlib.h>

namespace parallax::embedding {
namespace {

constexpr int links = 16, insertBeam = 200, smallestBeam = 150;
constexpr std::int64_t chunk = 256; ///< rows between two looks at the cancel flag

PARALLAX_VECTORISED
float squared(const float *a, const float *b, std::size_t dim)
{
    float sum[16]{};
    std::size_t i = 0;
    for (; i + 16 <= dim; i += 16)
        for (int lane = 0; lane < 16; ++lane) sum[lane] += (a[i + lane] - b[i + lane]) * (a[i + lane] - b[i + lane]);
    for (; i < dim; ++i) sum[i % 16] += (a[i] - b[i]) * (a[i] - b[i]);
    for (int half = 8; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) sum[lane] += sum[lane + half];
    return sum[0];
}

/// hnswlib's own distances take the instructions of the compiler's flags; these take the processor's.
class Space : public hnswlib::SpaceInterface<float>
{
public:
    explicit Space(std::size_t dim) : m_dim(dim) { }
    std::size_t get_data_size() override { return m_dim * sizeof(float); }
    hnswlib::DISTFUNC<float> get_dist_func() override
    {
        return [](const void *a, const void *b, const void *dim) {
            return squared(static_cast<const float *>(a), static_cast<const float *>(b),
                           *static_cast<const std::size_t *>(dim));
        };
    }
    void *get_dist_func_param() override { return &m_dim; }

private:
    std::size_t m_dim;
};

/// The beam's answers for one row, itself left out. Where the graph of links falls apart (many equal rows) there may be too few:
/// then the first rows fill up, so that k are there to be measured.
std::vector<std::int32_t> ask(const hnswlib::HierarchicalNSW<float> &index, const Points &points, std::int64_t row,
                              int wanted)
{
    auto answers = index.searchKnn(points.row(row), std::size_t(wanted) + 1);
    std::vector<std::int32_t> items;
    for (; !answers.empty(); answers.pop())
        if (const auto item = std::int32_t(answers.top().second); item != row) items.push_back(item);
    for (std::int32_t item = 0; int(items.size()) < wanted && item < points.size(); ++item)
        if (item != row && std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
    return items;
}

} // namespace

Result<KnnGraph> approximateGraph(const Points &points, int k, const SearchOptions &options)
{
    KnnGraph graph = emptyGraph(points.size(), points.size() - 1, k);
    if (graph.k == 0) return graph;
    const auto count = points.size();
    const int wanted = int(std::min<std::int64_t>(graph.k + spareCandidates, count - 1));
    try {
        Space space{std::size_t(points.dim)};
        hnswlib::HierarchicalNSW<float> index(&space, std::size_t(count), links, insertBeam, std::size_t(options.seed));
        for (std::int64_t row = 0; row < count; ++row) {
            if (row % chunk == 0 && isSet(options.cancel)) return searchCancelled();
            index.addPoint(points.row(row), std::size_t(row));
        }
        index.setEf(std::size_t(std::max(smallestBeam, 2 * wanted)));
        parallelFor((count + chunk - 1) / chunk, options.threads, [&](std::int64_t part) {
            if (isSet(options.cancel)) return;
            for (std::int64_t row = part * chunk; row < std::min(count, (part + 1) * chunk); ++row)
                settle(graph, row, points.row(row), points, ask(index, points, row, wanted));
        });
    } catch (const std::exception &failure) { // hnswlib throws: no memory
        return Error{
            std::string("The search for neighbours failed: ") + failure.what(), {}, "Embed fewer images: --limit N"};
    }
    if (isSet(options.cancel)) return searchCancelled();
    return graph;
}

} // namespace parallax::embedding
