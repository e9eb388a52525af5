// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/umap.h"

#include "core/embedding/fuzzy.h"
#include "core/embedding/layout.h"

#include <Eigen/Dense>

#include <cmath>
#include <limits>

namespace parallax::embedding {
namespace {

constexpr double startExtent = 10, startNoise = 1e-4;
constexpr std::int64_t fewPoints = 10'000;
constexpr double keepingRate = 0.25; ///< of maps that start from another and are to stay comparable with it
constexpr int epochsOfFew = 500, epochsOfMany = 200;

Status check(const UmapOptions &options)
{
    if (options.neighbours < 2)
        return Error{"UMAP needs at least 2 neighbours, not " + std::to_string(options.neighbours), {}, {}};
    if (!(options.spread > 0) || !(options.minDist >= 0) || options.minDist > options.spread)
        return Error{"UMAP's smallest distance lies between 0 and the spread", {}, {}};
    if (options.epochs < 0) return Error{"UMAP's epochs are 0 (chosen by size) or more", {}, {}};
    return {};
}

SearchOptions search(const UmapOptions &options)
{
    SearchOptions search;
    search.threads = options.threads;
    search.cancel = options.cancel;
    search.seed = options.seed;
    return search;
}

LayoutOptions layout(const UmapOptions &options, std::int64_t points)
{
    LayoutOptions layout;
    layout.curve = fitUmapCurve(options.minDist, options.spread);
    layout.epochs = options.epochs > 0 ? options.epochs : points <= fewPoints ? epochsOfFew : epochsOfMany;
    layout.seed = options.seed;
    layout.threads = options.threads;
    layout.cancel = options.cancel;
    return layout;
}

/// Each point's mean of its targets by weight.
std::vector<float> amongTargets(const Edges &edges, const std::vector<float> &fixed)
{
    std::vector<float> xy;
    for (std::size_t row = 0; row + 1 < edges.begin.size(); ++row) {
        double x = 0, y = 0, sum = 0;
        for (auto e = std::size_t(edges.begin[row]); e < std::size_t(edges.begin[row + 1]); ++e) {
            x += double(edges.weight[e]) * fixed[std::size_t(edges.target[e]) * 2];
            y += double(edges.weight[e]) * fixed[std::size_t(edges.target[e]) * 2 + 1];
            sum += edges.weight[e];
        }
        xy.push_back(float(sum > 0 ? x / sum : 0));
        xy.push_back(float(sum > 0 ? y / sum : 0));
    }
    return xy;
}

} // namespace

UmapCurve fitUmapCurve(double minDist, double spread)
{
    constexpr int samples = 300, steps = 200;
    Eigen::Vector2d p(1, 1); // a, b: Levenberg-Marquardt
    double damping = 1e-3;
    const auto residuals = [&](const Eigen::Vector2d &q, Eigen::MatrixX2d *slope) {
        Eigen::VectorXd r(samples);
        for (int i = 0; i < samples; ++i) {
            const double x = 3 * spread * i / (samples - 1);
            const double wanted = x < minDist ? 1 : std::exp(-(x - minDist) / spread);
            const double power = x > 0 ? std::pow(x, 2 * q[1]) : 0, value = 1 / (1 + q[0] * power);
            r[i] = value - wanted;
            if (!slope) continue;
            (*slope)(i, 0) = -power * value * value;
            (*slope)(i, 1) = x > 0 ? -q[0] * power * 2 * std::log(x) * value * value : 0;
        }
        return r;
    };
    for (int step = 0; step < steps; ++step) {
        Eigen::MatrixX2d slope(samples, 2);
        const Eigen::VectorXd r = residuals(p, &slope);
        Eigen::Matrix2d normal = slope.transpose() * slope;
        normal.diagonal() *= 1 + damping;
        const Eigen::Vector2d next = p - normal.ldlt().solve(slope.transpose() * r);
        if (next.minCoeff() > 0 && residuals(next, nullptr).squaredNorm() < r.squaredNorm()) {
            if ((next - p).norm() < 1e-10 * p.norm()) return {next[0], next[1]};
            p = next;
            damping /= 10;
        } else {
            damping *= 10;
        }
    }
    return {p[0], p[1]};
}

Result<Projection> umap(const float *vectors, std::int64_t count, std::int64_t dim, const UmapOptions &options)
{
    if (const auto valid = check(options); !valid) return valid.error();
    const Distinct distinct(Points::from(vectors, count, dim, options.metric));
    const Points &points = distinct.points();
    auto places = startPlaces(distinct, options, options.start.empty() ? startExtent : 0, startNoise);
    if (!places) return places.error();
    const auto graph = nearestGraph(points, options.neighbours - 1, search(options));
    if (!graph) return graph.error();
    LayoutOptions steps = layout(options, points.size());
    if (!options.start.empty()) steps.rate = keepingRate;
    if (options.watch)
        steps.watch = [&](double done, const std::vector<float> &xy) { options.watch(done, distinct.spread(xy)); };
    if (!arrange(*places, fuzzyUnion(smoothNeighbours(*graph, options.threads)), steps)) return mapCancelled();
    Projection map;
    map.xy = distinct.spread(*places);
    for (std::size_t i = 0; i < map.xy.size(); i += 2) map.skipped += std::isfinite(map.xy[i]) ? 0 : 1;
    return map;
}

Result<Projection> umapTransform(const float *vectors, std::int64_t count, std::int64_t dim, const std::vector<float> &xy,
                                 const float *others, std::int64_t otherCount, const UmapOptions &options)
{
    if (const auto valid = check(options); !valid) return valid.error();
    if (xy.size() != std::size_t(count) * 2)
        return Error{
            "The map has " + std::to_string(xy.size() / 2) + " places for " + std::to_string(count) + " rows", {}, {}};
    const Distinct distinct(Points::from(vectors, count, dim, options.metric));
    const Points added = distinct.points().alike(others, otherCount);
    const auto graph = nearestAmong(distinct.points(), added, options.neighbours, search(options));
    if (!graph) return graph.error();
    const std::vector<float> fixed = distinct.gather(xy);
    const Edges edges = smoothNeighbours(*graph, options.threads);
    std::vector<float> places = amongTargets(edges, fixed);
    LayoutOptions steps = layout(options, distinct.points().size());
    steps.epochs = std::max(1, steps.epochs / 3); // they start near where they belong
    steps.rate = keepingRate;
    if (!arrangeAround(places, fixed, edges, steps)) return mapCancelled();
    Projection map;
    map.xy.assign(std::size_t(otherCount) * 2, std::numeric_limits<float>::quiet_NaN());
    map.skipped = otherCount - added.size();
    for (std::size_t i = 0; i < added.rows.size(); ++i)
        std::copy_n(places.begin() + std::ptrdiff_t(i) * 2, 2, map.xy.begin() + added.rows[i] * 2);
    return map;
}

} // namespace parallax::embedding
