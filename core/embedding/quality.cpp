// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/quality.h"

#include "core/base/parallel.h"
#include "core/embedding/candidates.h"

#include <cmath>
#include <numeric>

namespace parallax::embedding {
namespace {

/// Numbers of all points but `item`, the nearest first, equal ones by number; distances squared.
std::vector<std::int32_t> order(const std::vector<double> &distance, std::int64_t item)
{
    std::vector<std::int32_t> items(distance.size());
    std::iota(items.begin(), items.end(), 0);
    items.erase(items.begin() + item);
    std::sort(items.begin(), items.end(), [&](std::int32_t a, std::int32_t b) {
        const double da = distance[std::size_t(a)], db = distance[std::size_t(b)];
        return da != db ? da < db : a < b;
    });
    return items;
}

struct Judgement {
    std::int64_t beyond = 0, kept = 0; ///< ranks beyond k, summed; common neighbours
};

Judgement judge(const Points &points, const std::vector<float> &places, std::int64_t item, int k)
{
    std::vector<double> far(std::size_t(points.size())), near(std::size_t(points.size()));
    for (std::int64_t i = 0; i < points.size(); ++i) {
        far[std::size_t(i)] = squaredDistance(points.row(i), points.row(item), points.dim);
        near[std::size_t(i)] = squaredDistance(&places[std::size_t(i) * 2], &places[std::size_t(item) * 2], 2);
    }
    const auto vectors = order(far, item), map = order(near, item);
    std::vector<std::int64_t> rank(far.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) rank[std::size_t(vectors[i])] = std::int64_t(i) + 1;
    Judgement result;
    for (int i = 0; i < k; ++i) {
        const std::int64_t r = rank[std::size_t(map[std::size_t(i)])];
        result.beyond += std::max<std::int64_t>(0, r - k);
        result.kept += r <= k ? 1 : 0;
    }
    return result;
}

} // namespace

Result<MapQuality> mapQuality(const float *vectors, std::int64_t count, std::int64_t dim, const std::vector<float> &xy,
                              const QualityOptions &options)
{
    if (xy.size() != std::size_t(count) * 2)
        return Error{
            "The map has " + std::to_string(xy.size() / 2) + " places for " + std::to_string(count) + " rows", {}, {}};
    Points all = Points::from(vectors, count, dim, options.metric), points = all;
    points.rows.clear();
    points.values.clear();
    std::vector<float> places;
    for (std::int64_t i = 0; i < all.size(); ++i) {
        const float *at = xy.data() + all.rows[std::size_t(i)] * 2;
        if (!std::isfinite(at[0]) || !std::isfinite(at[1])) continue;
        points.rows.push_back(all.rows[std::size_t(i)]);
        points.values.insert(points.values.end(), all.row(i), all.row(i) + dim);
        places.insert(places.end(), at, at + 2);
    }
    const std::int64_t n = points.size();
    if (options.k < 1 || 2 * options.k >= n)
        return Error{"The quality of a map over " + std::to_string(options.k) +
                         " neighbours needs more than twice as many points; "
                         "there are " +
                         std::to_string(n),
                     {},
                     {}};
    const std::int64_t asked = std::min(n, std::max<std::int64_t>(options.sample, 1));
    std::vector<Judgement> judgements{std::size_t(asked)};
    parallelFor(asked, options.threads, [&](std::int64_t i) {
        if (!isSet(options.cancel)) judgements[std::size_t(i)] = judge(points, places, i * n / asked, options.k);
    });
    if (isSet(options.cancel)) return Error{"Measuring the map was cancelled", {}, {}};
    double beyond = 0, kept = 0;
    for (const auto &judgement : judgements) {
        beyond += double(judgement.beyond);
        kept += double(judgement.kept);
    }
    const double k = options.k;
    return MapQuality{1 - 2 * beyond / (double(asked) * k * (2.0 * double(n) - 3 * k - 1)), kept / (double(asked) * k),
                      asked};
}

} // namespace parallax::embedding
