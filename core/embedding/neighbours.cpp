// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/project.h"

#include "core/embedding/candidates.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

namespace parallax::embedding {
namespace {

/// Length in double: squares of floats neither overflow nor vanish there.
double length(const float *v, std::int64_t dim)
{
    return std::sqrt(Eigen::Map<const Eigen::VectorXf>(v, dim).cast<double>().squaredNorm());
}

} // namespace

Result<Neighbours> Neighbours::build(const float *vectors, std::int64_t count, std::int64_t dim,
                                     const std::atomic<bool> *cancel)
{
    Neighbours index;
    index.m_count = count;
    index.m_dim = dim;
    index.m_unit.assign(std::size_t(count * dim), 0);
    index.m_usable.assign(std::size_t(count), 0);
    const float *first = nullptr;
    bool allEqual = true;
    for (std::int64_t row = 0; row < count; ++row) {
        if (row % 512 == 0 && cancel && cancel->load(std::memory_order_relaxed)) return searchCancelled();
        const float *v = vectors + row * dim;
        const double norm = length(v, dim);
        if (!std::isfinite(norm)) {
            ++index.m_notFinite;
            continue;
        }
        if (first && allEqual) allEqual = std::equal(v, v + dim, first);
        if (!first) first = v;
        if (norm == 0) {
            ++index.m_zeroRows;
            continue;
        }
        index.m_usable[row] = 1;
        float *unit = index.m_unit.data() + row * dim;
        for (std::int64_t i = 0; i < dim; ++i) unit[i] = float(v[i] / norm);
    }
    index.m_allEqual = allEqual && count - index.m_notFinite > 1;
    return index;
}

std::vector<Neighbour> Neighbours::nearest(std::int64_t item, int k) const
{
    if (item < 0 || item >= m_count || !m_usable[item] || k < 1) return {};
    using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const Rows> unit(m_unit.data(), m_count, m_dim);
    const Eigen::VectorXf cosine = unit * unit.row(item).transpose();

    std::vector<Neighbour> found;
    found.reserve(std::size_t(m_count));
    for (std::int64_t row = 0; row < m_count; ++row)
        if (row != item && m_usable[row]) found.push_back({row, std::clamp(cosine[row], -1.0F, 1.0F)});
    const auto nearer = [](const Neighbour &a, const Neighbour &b) {
        return a.cosine != b.cosine ? a.cosine > b.cosine : a.item < b.item;
    };
    const auto wanted = std::min<std::size_t>(std::size_t(k), found.size());
    std::partial_sort(found.begin(), found.begin() + std::ptrdiff_t(wanted), found.end(), nearer);
    found.resize(wanted);
    return found;
}

std::vector<Neighbour> neighbours(const float *vectors, std::int64_t count, std::int64_t dim, std::int64_t item, int k)
{
    const auto index = Neighbours::build(vectors, count, dim);
    return index ? index->nearest(item, k) : std::vector<Neighbour>();
}

} // namespace parallax::embedding
