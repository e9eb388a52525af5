// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/maps.h"

namespace parallax::embedding {

/// UMAP: McInnes, Healy, Melville, "UMAP: Uniform Manifold Approximation and Projection for Dimension Reduction" (2018).
struct UmapOptions : MapOptions {
    int neighbours = 15;  ///< at least 2; the row itself is one of them, as in the paper's software
    double minDist = 0.1; ///< how close points may lie, 0 … spread
    double spread = 1;
    int epochs = 0; ///< 0: 500 up to 10,000 points, 200 beyond
};

/// The same rows, options and seed give the same map for any number of threads: points move in four groups, one after the other;
/// a point of the group that moves reads where all others were before, and its random numbers depend on seed, epoch and point.
Result<Projection> umap(const float *vectors, std::int64_t count, std::int64_t dim, const UmapOptions &options = {});

/// Places for other rows of the same network on a map that stands: `xy` [count, 2] is the map of `vectors`; it does not move.
Result<Projection> umapTransform(const float *vectors, std::int64_t count, std::int64_t dim, const std::vector<float> &xy,
                                 const float *others, std::int64_t otherCount, const UmapOptions &options = {});

/// a and b of 1 / (1 + a x^2b), fitted by least squares to exp(-(x - minDist) / spread), 1 below minDist, on 0 … 3 spread.
struct UmapCurve {
    double a, b;
};
UmapCurve fitUmapCurve(double minDist, double spread);

} // namespace parallax::embedding
