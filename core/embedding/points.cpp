// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/points.h"

#include <algorithm>
#include <cmath>

namespace parallax::embedding {
namespace {

/// Length of v - origin, in double: squares of floats neither overflow nor vanish there.
double length(const float *v, const std::vector<double> &origin)
{
    double sum = 0;
    for (std::size_t i = 0; i < origin.size(); ++i) sum += (v[i] - origin[i]) * (v[i] - origin[i]);
    return std::sqrt(sum);
}

std::vector<double> meanOfFinite(const float *vectors, std::int64_t count, std::int64_t dim)
{
    std::vector<double> mean(std::size_t(dim), 0.0);
    double n = 0;
    for (std::int64_t row = 0; row < count; ++row) {
        const float *v = vectors + row * dim;
        if (!std::all_of(v, v + dim, [](float x) { return std::isfinite(x); })) continue;
        ++n; // a running mean: a sum of 10^38s would leave even double's exact range
        for (std::int64_t i = 0; i < dim; ++i) mean[std::size_t(i)] += (v[i] - mean[std::size_t(i)]) / n;
    }
    return mean;
}

} // namespace

Points Points::from(const float *vectors, std::int64_t count, std::int64_t dim, Metric metric)
{
    Points frame;
    frame.dim = dim;
    frame.metric = metric;
    frame.origin.assign(std::size_t(dim), 0.0);
    if (metric == Metric::Euclidean) {
        frame.origin = meanOfFinite(vectors, count, dim);
        double longest = 0;
        for (std::int64_t row = 0; row < count; ++row)
            if (const double norm = length(vectors + row * dim, frame.origin); std::isfinite(norm))
                longest = std::max(longest, norm);
        if (longest > 0) frame.unit = longest;
    }
    return frame.alike(vectors, count);
}

Points Points::alike(const float *vectors, std::int64_t count) const
{
    Points points;
    points.dim = dim;
    points.metric = metric;
    points.origin = origin;
    points.unit = unit;
    points.given = count;
    for (std::int64_t row = 0; row < count; ++row) {
        const float *v = vectors + row * dim;
        const double norm = length(v, origin);
        if (!std::isfinite(norm) || (metric == Metric::Cosine && norm == 0)) continue;
        points.rows.push_back(row);
        const double scale = metric == Metric::Cosine ? norm : unit;
        for (std::int64_t i = 0; i < dim; ++i) points.values.push_back(float((v[i] - origin[std::size_t(i)]) / scale));
    }
    return points;
}

} // namespace parallax::embedding
