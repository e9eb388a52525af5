// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/panels.h"

#include "core/base/simd.h"

#include <cstring>
#include <limits>

namespace parallax::embedding {
namespace {

using Lanes = float __attribute__((vector_size(Panels::wide * sizeof(float))));

PARALLAX_VECTORISED
void multiply(const float *panel, const float *half, const float *questions, std::int64_t dim, float (*scores)[Panels::wide])
{
    Lanes sum[Panels::high]{};
    for (std::int64_t i = 0; i < dim; ++i) {
        Lanes column;
        std::memcpy(&column, panel + i * Panels::wide, sizeof column);
        for (int q = 0; q < Panels::high; ++q) sum[q] += column * questions[q * dim + i];
    }
    Lanes less;
    std::memcpy(&less, half, sizeof less);
    for (int q = 0; q < Panels::high; ++q) {
        sum[q] -= less;
        std::memcpy(scores[q], &sum[q], sizeof sum[q]);
    }
}

} // namespace

Panels::Panels(const Points &points)
    : m_dim(points.dim), m_count((points.size() + wide - 1) / wide),
      m_values(std::size_t(m_count * points.dim * wide), 0.0F),
      m_half(std::size_t(m_count * wide), std::numeric_limits<float>::infinity())
{
    for (std::int64_t row = 0; row < points.size(); ++row) {
        float *panel = m_values.data() + row / wide * m_dim * wide + row % wide;
        double square = 0;
        for (std::int64_t i = 0; i < m_dim; ++i) {
            panel[i * wide] = points.row(row)[i];
            square += double(panel[i * wide]) * panel[i * wide];
        }
        // Of unit rows all alike: a rounding's difference would order equal cosines.
        m_half[std::size_t(row)] = points.metric == Metric::Cosine ? 0.5F : float(square / 2);
    }
}

void Panels::scores(std::int64_t panel, const float *questions, float (*scores)[wide]) const
{
    multiply(m_values.data() + panel * m_dim * wide, m_half.data() + panel * wide, questions, m_dim, scores);
}

} // namespace parallax::embedding
