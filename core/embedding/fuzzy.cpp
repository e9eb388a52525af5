// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/fuzzy.h"

#include "core/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace parallax::embedding {
namespace {

constexpr std::int64_t chunk = 1024;
constexpr int bisections = 64;
constexpr double tolerance = 1e-5;
constexpr double smallestShare = 1e-3; ///< sigma is at least this share of the mean distance: copies would make it 0

struct Reach {
    double rho, sigma;
};

Reach reach(const float *distance, int k)
{
    double rho = 0, mean = 0;
    for (int i = k - 1; i >= 0; --i) {
        if (distance[i] > 0) rho = distance[i];
        mean += distance[i] / (k + 1); // the row itself counts with 0
    }
    const double wanted = std::log2(k + 1);
    double low = 0, high = INFINITY, sigma = 1;
    for (int step = 0; step < bisections; ++step) {
        double sum = 0;
        for (int i = 0; i < k; ++i) sum += distance[i] > rho ? std::exp(-(distance[i] - rho) / sigma) : 1;
        if (std::abs(sum - wanted) < tolerance) break;
        if (sum > wanted)
            high = sigma;
        else
            low = sigma;
        sigma = std::isfinite(high) ? (low + high) / 2 : sigma * 2;
    }
    return {rho, std::max(sigma, smallestShare * mean)};
}

Edges transposed(const Edges &edges)
{
    Edges result;
    result.begin.assign(edges.begin.size(), 0);
    for (const std::int32_t target : edges.target) ++result.begin[std::size_t(target) + 1];
    for (std::size_t row = 1; row < result.begin.size(); ++row) result.begin[row] += result.begin[row - 1];
    result.target.resize(edges.target.size());
    result.weight.resize(edges.weight.size());
    auto next = result.begin;
    for (std::int64_t row = 0; row < edges.rows(); ++row)
        for (auto e = std::size_t(edges.begin[std::size_t(row)]); e < std::size_t(edges.begin[std::size_t(row) + 1]); ++e) {
            const auto place = std::size_t(next[std::size_t(edges.target[e])]++);
            result.target[place] = std::int32_t(row);
            result.weight[place] = edges.weight[e];
        }
    return result;
}

} // namespace

Edges smoothNeighbours(const KnnGraph &graph, int threads)
{
    Edges edges;
    for (std::int64_t row = 0; row <= graph.size; ++row) edges.begin.push_back(row * graph.k);
    edges.target.resize(graph.neighbour.size());
    edges.weight.resize(graph.neighbour.size());
    if (graph.k == 0) return edges;
    parallelFor((graph.size + chunk - 1) / chunk, threads, [&](std::int64_t part) {
        std::vector<std::pair<std::int32_t, float>> row(std::size_t(graph.k));
        for (std::int64_t i = part * chunk; i < std::min(graph.size, (part + 1) * chunk); ++i) {
            const float *distance = graph.distances(i);
            const auto [rho, sigma] = reach(distance, graph.k);
            for (int j = 0; j < graph.k; ++j)
                row[std::size_t(j)] = {graph.neighbours(i)[j],
                                       distance[j] > rho ? float(std::exp(-(distance[j] - rho) / sigma)) : 1.0F};
            std::sort(row.begin(), row.end());
            for (int j = 0; j < graph.k; ++j) {
                edges.target[std::size_t(i * graph.k + j)] = row[std::size_t(j)].first;
                edges.weight[std::size_t(i * graph.k + j)] = row[std::size_t(j)].second;
            }
        }
    });
    return edges;
}

Edges fuzzyUnion(const Edges &edges)
{
    const Edges back = transposed(edges);
    Edges result;
    result.begin.push_back(0);
    result.target.reserve(edges.target.size() * 2);
    result.weight.reserve(edges.target.size() * 2);
    const auto add = [&](std::int32_t target, float there, float here) {
        result.target.push_back(target);
        result.weight.push_back(there + here - there * here);
    };
    for (std::size_t row = 0; row + 1 < edges.begin.size(); ++row) {
        auto a = std::size_t(edges.begin[row]), b = std::size_t(back.begin[row]);
        const auto lastA = std::size_t(edges.begin[row + 1]), lastB = std::size_t(back.begin[row + 1]);
        while (a < lastA || b < lastB) {
            if (b == lastB || (a < lastA && edges.target[a] < back.target[b])) {
                add(edges.target[a], edges.weight[a], 0);
                ++a;
            } else if (a == lastA || back.target[b] < edges.target[a]) {
                add(back.target[b], 0, back.weight[b]);
                ++b;
            } else {
                add(edges.target[a], edges.weight[a], back.weight[b]);
                ++a;
                ++b;
            }
        }
        result.begin.push_back(std::int64_t(result.target.size()));
    }
    return result;
}

} // namespace parallax::embedding
