// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace parallax::embedding {

struct Projection {
    std::vector<float> xy;         ///< [count, 2]; NaN for rows that hold a value that is not finite
    std::vector<double> explained; ///< share of variance of each axis
    std::int64_t skipped = 0;      ///< rows with NaN or infinity
};

/// Principal components 1 and 2 of the rows (exact, by the covariance's eigenvectors). The sign is fixed: the component's
/// largest weight is positive, so the same vectors give the same map. Constant or single rows give the origin.
/// `cancel` set: an Error.
Result<Projection> pca(const float *vectors, std::int64_t count, std::int64_t dim,
                       const std::atomic<bool> *cancel = nullptr);

struct Neighbour {
    std::int64_t item;
    float cosine;
    bool operator==(const Neighbour &) const = default;
};

/// Rows brought to length 1 once, so that each question costs one pass over them (50,000 × 512: some 20 ms).
class Neighbours
{
public:
    /// Copies the rows. `cancel` set: an Error.
    static Result<Neighbours> build(const float *vectors, std::int64_t count, std::int64_t dim,
                                    const std::atomic<bool> *cancel = nullptr);
    /// The k rows nearest to `item` by cosine, itself left out, best first, equal ones by number; exact. Zero vectors and
    /// rows that are not finite are nobody's neighbour; asked for one (or for an item that is not there), nothing.
    std::vector<Neighbour> nearest(std::int64_t item, int k) const;
    std::int64_t zeroRows() const { return m_zeroRows; }
    std::int64_t notFinite() const { return m_notFinite; }
    /// Every finite row is the same: no neighbour is nearer than another.
    bool allEqual() const { return m_allEqual; }

private:
    std::int64_t m_count = 0, m_dim = 0, m_zeroRows = 0, m_notFinite = 0;
    bool m_allEqual = false;
    std::vector<float> m_unit;  ///< [count, dim]; rows without a direction are 0
    std::vector<char> m_usable; ///< [count]
};

/// One question without an index; see Neighbours::nearest.
std::vector<Neighbour> neighbours(const float *vectors, std::int64_t count, std::int64_t dim, std::int64_t item, int k);

} // namespace parallax::embedding
