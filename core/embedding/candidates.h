// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace parallax::embedding {

/// Found beyond k: floats of a search cannot tell the last ones apart, the differences in double then can.
constexpr int spareCandidates = 8;

inline Error searchCancelled() { return {"The search for neighbours was cancelled", {}, {}}; }
inline bool isSet(const std::atomic<bool> *flag) { return flag && flag->load(std::memory_order_relaxed); }

/// The best `capacity` of a stream of scores; of equal ones the first that came.
class Candidates
{
public:
    explicit Candidates(std::size_t capacity) : m_capacity(capacity) { m_best.reserve(capacity + 1); }
    /// A score must be above it to enter.
    float bar() const { return m_bar; }
    void add(float score, std::int32_t item)
    {
        const auto place = std::upper_bound(m_best.begin(), m_best.end(), score,
                                            [](float value, const auto &entry) { return value > entry.score; });
        m_best.insert(place, {score, item});
        if (m_best.size() > m_capacity) m_best.pop_back();
        if (m_best.size() == m_capacity) m_bar = m_best.back().score;
    }
    struct Entry {
        float score;
        std::int32_t item;
    };
    const std::vector<Entry> &best() const { return m_best; }

private:
    std::size_t m_capacity;
    std::vector<Entry> m_best;
    float m_bar = -std::numeric_limits<float>::infinity();
};

inline double squaredDistance(const float *a, const float *b, std::int64_t dim)
{
    double sum = 0;
    for (std::int64_t i = 0; i < dim; ++i) sum += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
    return sum;
}

/// Measures a row's candidates anew and writes its best k into the graph.
template<class Items>
void settle(KnnGraph &graph, std::int64_t row, const float *question, const Points &points, const Items &items)
{
    std::vector<std::pair<double, std::int32_t>> found;
    found.reserve(items.size());
    for (const std::int32_t item : items) found.emplace_back(squaredDistance(question, points.row(item), points.dim), item);
    std::sort(found.begin(), found.end());
    for (int i = 0; i < graph.k; ++i) {
        graph.neighbour[std::size_t(row * graph.k + i)] = found[std::size_t(i)].second;
        graph.distance[std::size_t(row * graph.k + i)] = float(std::sqrt(found[std::size_t(i)].first));
    }
}

inline KnnGraph emptyGraph(std::int64_t size, std::int64_t toFind, int k)
{
    KnnGraph graph;
    graph.size = size;
    graph.k = int(std::clamp<std::int64_t>(k, 0, std::max<std::int64_t>(toFind, 0)));
    graph.neighbour.resize(std::size_t(size * graph.k));
    graph.distance.resize(std::size_t(size * graph.k));
    return graph;
}

} // namespace parallax::embedding
