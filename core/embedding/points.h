// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace parallax::embedding {

enum class Metric {
    Cosine,   ///< Euclidean distance of the rows brought to length 1: sqrt(2 - 2 cosine), which orders as the cosine does
    Euclidean ///< of the rows as they are
};

/// The rows of a matrix that a metric can compare, ready for dot products. Rows with NaN or infinity are left out; for the
/// cosine those of length 0 as well. Under the Euclidean metric rows lie relative to their mean and in units of the longest one,
/// so that neither an offset nor huge values cost precision.
struct Points {
    static Points from(const float *vectors, std::int64_t count, std::int64_t dim, Metric metric);
    /// Other rows brought into the same system: those of a map's data, then new ones.
    Points alike(const float *vectors, std::int64_t count) const;

    std::int64_t size() const { return std::int64_t(rows.size()); }
    const float *row(std::int64_t i) const { return values.data() + i * dim; }

    std::int64_t dim = 0;
    std::int64_t given = 0; ///< rows that there were
    Metric metric = Metric::Cosine;
    std::vector<std::int64_t> rows; ///< number of each kept row among the given
    std::vector<float> values;      ///< [size, dim]
    std::vector<double> origin;     ///< [dim]; Euclidean only
    double unit = 1;                ///< a distance of 1 here is so long in the given rows
};

} // namespace parallax::embedding
