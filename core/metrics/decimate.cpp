// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace parallax::metrics {

namespace {

/// The points that stand for one pixel column, as indices into the series.
class Column
{
public:
    void add(std::size_t i, const std::vector<double> &y)
    {
        if (!std::isfinite(y[i])) {
            if (m_gap == none) m_gap = i;
            return;
        }
        if (m_first == none) m_first = m_smallest = m_largest = i;
        if (y[i] < y[m_smallest]) m_smallest = i;
        if (y[i] > y[m_largest]) m_largest = i;
        m_last = i;
    }

    /// In the order of the series, each once; then empty again.
    template<class Emit>
    void flush(Emit emit)
    {
        std::array<std::size_t, 5> points{m_first, m_smallest, m_largest, m_last, m_gap};
        std::ranges::sort(points);
        for (std::size_t i = 0; i < points.size(); ++i)
            if (points[i] != none && (i == 0 || points[i] != points[i - 1])) emit(points[i]);
        *this = Column();
    }

private:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::size_t m_first = none, m_smallest = none, m_largest = none, m_last = none, m_gap = none;
};

} // namespace

Polyline decimate(const std::vector<double> &x, const std::vector<double> &y, double from, double to, int pixels)
{
    Polyline line;
    const std::size_t size = std::min(x.size(), y.size());
    if (size == 0 || !(from <= to)) return line;
    if (!std::isfinite(from)) from = std::min(x.front(), to);
    if (!std::isfinite(to)) to = std::max(x[size - 1], from);
    const auto begin = x.begin(), end = x.begin() + static_cast<std::ptrdiff_t>(size);
    const auto low = static_cast<std::size_t>(std::lower_bound(begin, end, from) - begin);
    const auto high = static_cast<std::size_t>(std::upper_bound(begin, end, to) - begin);
    const auto emit = [&](std::size_t i) {
        line.x.push_back(x[i]);
        line.y.push_back(std::isfinite(y[i]) ? y[i] : std::numeric_limits<double>::quiet_NaN());
    };

    const std::size_t columns = static_cast<std::size_t>(std::max(pixels, 1));
    line.x.reserve(std::min(high - low, 5 * columns) + 2);
    line.y.reserve(line.x.capacity());
    if (low > 0) emit(low - 1);
    if (high - low <= 4 * columns) {
        for (std::size_t i = low; i < high; ++i) emit(i);
    } else {
        const double perUnit = to > from ? double(columns) / (to - from) : 0;
        Column column;
        std::size_t current = 0;
        for (std::size_t i = low; i < high; ++i) {
            // In this order the result is 0 where the product is NaN.
            const double at = std::max(0.0, std::min((x[i] - from) * perUnit, double(columns - 1)));
            if (const auto index = static_cast<std::size_t>(at); index != current) {
                column.flush(emit);
                current = index;
            }
            column.add(i, y);
        }
        column.flush(emit);
    }
    if (high < size) emit(high);
    return line;
}

} // namespace parallax::metrics
