// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/points.h"

#include <cstddef>
#include <vector>

namespace parallax::embedding {

/// Points laid out for dot products of many with many: panels of 16 rows, each [dim][16], so that one vector instruction works on
/// 16 of them. The rows that the last panel lacks are never nearest.
class Panels
{
public:
    static constexpr int wide = 16; ///< rows a panel
    static constexpr int high = 6;  ///< questions at once: as many sums as AVX2 has registers for

    explicit Panels(const Points &points);
    std::int64_t count() const { return m_count; } ///< panels
    /// scores[q][r] = question q · row r of the panel - |row r|² / 2: the larger, the nearer in the Euclidean sense.
    /// `questions` are `high` rows of dim numbers each, one after the other. The same bits on every processor.
    void scores(std::int64_t panel, const float *questions, float (*scores)[wide]) const;

private:
    std::int64_t m_dim, m_count;
    std::vector<float> m_values; ///< [count, dim, 16]
    std::vector<float> m_half;   ///< [count, 16], half the squared lengths; infinity where there is no row
};

} // namespace parallax::embedding
