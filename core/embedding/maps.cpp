// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/maps.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>
#include <unordered_map>

namespace parallax::embedding {

Error mapCancelled() { return {"The map was cancelled", {}, {}}; }

Distinct::Distinct(const Points &points) : m_given(points.given), m_place(std::size_t(points.given), -1)
{
    m_points = points;
    m_points.rows.clear();
    m_points.values.clear();
    std::unordered_map<std::string_view, std::int64_t> known; // the bytes of a row → its place
    for (std::int64_t i = 0; i < points.size(); ++i) {
        const std::string_view bytes(reinterpret_cast<const char *>(points.row(i)), std::size_t(points.dim) * sizeof(float));
        const auto [it, isNew] = known.try_emplace(bytes, m_points.size());
        m_place[std::size_t(points.rows[std::size_t(i)])] = it->second;
        if (!isNew) continue;
        m_points.rows.push_back(points.rows[std::size_t(i)]);
        m_points.values.insert(m_points.values.end(), points.row(i), points.row(i) + points.dim);
    }
}

std::vector<float> Distinct::spread(const std::vector<float> &places) const
{
    std::vector<float> xy(std::size_t(m_given) * 2, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t row = 0; row < m_place.size(); ++row)
        if (m_place[row] >= 0) std::copy_n(places.begin() + m_place[row] * 2, 2, xy.begin() + std::ptrdiff_t(row) * 2);
    return xy;
}

std::vector<float> Distinct::gather(const std::vector<float> &xy) const
{
    std::vector<float> places;
    for (const std::int64_t row : m_points.rows) places.insert(places.end(), xy.begin() + row * 2, xy.begin() + row * 2 + 2);
    return places;
}

Result<std::vector<float>> startPlaces(const Distinct &distinct, const MapOptions &options, double extent, double noise)
{
    const Points &points = distinct.points();
    std::vector<float> places;
    if (options.start.empty()) {
        auto map = pca(points.values.data(), points.size(), points.dim, options.cancel);
        if (!map) return map.error();
        places = std::move(map->xy);
    } else if (options.start.size() == std::size_t(points.given) * 2) {
        places = distinct.gather(options.start);
    } else {
        return Error{"Got " + std::to_string(options.start.size() / 2) + " places to start from for " +
                         std::to_string(points.given) + " rows",
                     {},
                     {}};
    }
    for (std::size_t i = 0; i < places.size(); i += 2)
        if (!std::isfinite(places[i]) || !std::isfinite(places[i + 1])) places[i] = places[i + 1] = 0;
    float farthest = 0;
    for (const float v : places) farthest = std::max(farthest, std::abs(v));
    const double scale = extent > 0 && farthest > 0 ? extent / double(farthest) : 1;
    std::mt19937_64 generator(options.seed);
    std::normal_distribution<double> normal(0, noise);
    for (float &v : places) v = float(v * scale + (places.size() > 2 ? normal(generator) : 0));
    return places;
}

} // namespace parallax::embedding
