// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/points.h"

namespace parallax::embedding {

/// How well a map keeps neighbourhoods.
struct MapQuality {
    /// Trustworthiness (Venna, Kaski 2001): 1 - 2 / (n k (2n - 3k - 1)) · sum over the points' k nearest on the map of how far
    /// their rank among the vectors lies beyond k. 1: no false neighbour; about 0.5: chance.
    double trustworthiness = 0;
    double preserved = 0;    ///< share of the k nearest vectors that are among the k nearest on the map
    std::int64_t points = 0; ///< that were asked
};

struct QualityOptions {
    int k = 15; ///< below half the number of points
    Metric metric = Metric::Cosine;
    std::int64_t sample = 2000; ///< points that are asked, spread evenly over the rows; each is compared with all
    int threads = 0;
    const std::atomic<bool> *cancel = nullptr;
};

/// Of the rows that are on the map: xy [count, 2]. The trustworthiness is scaled to the sample.
Result<MapQuality> mapQuality(const float *vectors, std::int64_t count, std::int64_t dim, const std::vector<float> &xy,
                              const QualityOptions &options = {});

} // namespace parallax::embedding
