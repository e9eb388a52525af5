// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace parallax::embedding {

struct Projection {
    std::vector<float> xy;              ///< [count, 2]; NaN for rows that hold a value that is not finite
    std::vector<double> explained;      ///< share of variance of each axis
    std::int64_t skipped = 0;           ///< rows with NaN or infinity
};

/// Principal components 1 and 2 of the rows (exact, by the covariance's eigenvectors). The sign is fixed: the component's
/// largest weight is positive, so the same vectors give the same map. Constant or single rows give the origin.
/// `cancel` set: an Error.
Result<Projection> pca(const float *vectors, std::int64_t count, std::int64_t dim, const std::atomic<bool> *cancel = nullptr);

struct Neighbour {
    std::int64_t item;
    float cosine;
};
/// The k rows nearest to `item` by cosine, itself left out, best first, exact. Zero vectors and rows that are not finite are
/// nobody's neighbour; asked for one, the answer is empty.
std::vector<Neighbour> neighbours(const float *vectors, std::int64_t count, std::int64_t dim, std::int64_t item, int k);

} // namespace parallax::embedding
