// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/points.h"
#include "core/embedding/project.h"

#include <functional>

namespace parallax::embedding {

/// Called in the thread that asked for the map, some 20 times a second at most: `done` is the share of the steps, `xy` [count, 2]
/// as in Projection, but not yet at rest.
using MapWatch = std::function<void(double done, const std::vector<float> &xy)>;

/// What maps that arrange neighbourhoods have in common. Of equal rows one is arranged, and all lie on its place.
struct MapOptions {
    Metric metric = Metric::Cosine;
    std::uint64_t seed = 1;
    int threads = 0;                           ///< 0: one a core; the map is the same for any number
    const std::atomic<bool> *cancel = nullptr; ///< set: an Error, within a moment
    MapWatch watch;
    /// [count, 2], such as another epoch's map that this one is to be compared with; what is not finite starts at the origin.
    /// Empty: the principal components.
    std::vector<float> start;
};

/// The places of rows that are mapped, each once, and the way back to the rows that were given.
class Distinct
{
public:
    explicit Distinct(const Points &points);
    const Points &points() const { return m_points; }
    /// Of the distinct points [size, 2] those of all given rows; NaN for rows that are in no place.
    std::vector<float> spread(const std::vector<float> &places) const;
    /// The distinct points' share of [given, 2].
    std::vector<float> gather(const std::vector<float> &xy) const;

private:
    Points m_points;
    std::int64_t m_given;
    std::vector<std::int64_t> m_place; ///< [given]; -1: none
};

/// `start` or the principal components, of the distinct points; their farthest coordinate becomes `extent` (0: as they are), and
/// normal noise of deviation `noise` keeps places apart.
Result<std::vector<float>> startPlaces(const Distinct &distinct, const MapOptions &options, double extent, double noise);

Error mapCancelled();

} // namespace parallax::embedding
