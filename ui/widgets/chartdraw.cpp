// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The part of Chart that turns series into what is drawn: smoothing, ranges, decimation, marks.
#include "core/metrics/series.h"
#include "ui/widgets/chart.h"
#include "ui/widgets/chartitems.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parallax::ui {
namespace {

/// Points with x in [from, to], plus one at each side.
std::pair<std::size_t, std::size_t> pointsWithin(const std::vector<double> &x, double from, double to)
{
    auto first = std::lower_bound(x.begin(), x.end(), from), last = std::upper_bound(x.begin(), x.end(), to);
    return {std::size_t(first - x.begin()), std::size_t(last - x.begin())};
}

void setData(QCPGraph *graph, const metrics::Polyline &line)
{
    QVector<QCPGraphData> data;
    data.reserve(qsizetype(line.x.size()));
    for (std::size_t i = 0; i < line.x.size(); ++i) data.append(QCPGraphData(line.x[i], line.y[i]));
    graph->data()->set(data, true);
}

struct Bounds {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
    void add(double value)
    {
        if (!std::isfinite(value)) return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool empty() const { return !(low <= high); }
};

} // namespace

void Chart::smoothAll()
{
    if (!m_smoothIsStale) return;
    m_smoothIsStale = false;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const ChartSeries &series = m_series[i];
        const auto smoothed = [&](const std::vector<double> &values) {
            return series.smooth && m_smoothing > 0 ? metrics::smooth(values, m_smoothing) : values;
        };
        m_lines[i].smoothed = smoothed(series.y);
        m_lines[i].smoothedLow = smoothed(series.low);
        m_lines[i].smoothedHigh = smoothed(series.high);
    }
}

std::optional<std::pair<double, double>> Chart::dataRange() const
{
    Bounds bounds;
    for (const ChartSeries &series : m_series) {
        if (series.x.empty()) continue;
        bounds.add(series.x.front());
        bounds.add(series.x.back());
    }
    for (const ChartEvent &event : m_events)
        if (event.kind == ChartEvent::Kind::Failure) bounds.add(event.x);
    if (bounds.empty()) return std::nullopt;
    return std::pair(bounds.low, bounds.high);
}

void Chart::fitRange()
{
    const auto range = dataRange();
    if (!range) {
        m_plot->xAxis->setRange(0, 1);
        return;
    }
    auto [from, to] = *range;
    if (m_xScale != XScale::Clock && from > 0 && from < 0.2 * to) from = 0;
    const double span = to > from ? to - from : 1;
    m_plot->xAxis->setRange(from, from + span * 1.02);
}

void Chart::fitValues()
{
    Bounds bounds;
    const QCPRange view = m_plot->xAxis->range();
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const ChartSeries &series = m_series[i];
        const auto [first, last] = pointsWithin(series.x, view.lower, view.upper);
        for (std::size_t k = first; k < last; ++k)
            for (const std::vector<double> *line : {&m_lines[i].smoothed, &m_lines[i].smoothedLow, &m_lines[i].smoothedHigh})
                if (k < line->size() && (!m_logY || (*line)[k] > 0)) bounds.add((*line)[k]);
        if (!series.low.empty() || !series.smooth || m_smoothing <= 0 || first >= last) continue;
        // The raw trace is seen too, but single outliers may leave the picture.
        std::vector<double> raw(series.y.begin() + std::ptrdiff_t(first), series.y.begin() + std::ptrdiff_t(last));
        if (m_logY) std::erase_if(raw, [](double v) { return !(v > 0); });
        if (raw.empty()) continue;
        const auto [low, high] = metrics::robustRange(raw);
        if (!m_logY || low > 0) bounds.add(low);
        bounds.add(high);
    }
    if (bounds.empty()) bounds = {m_logY ? 0.1 : 0, 1};
    // A reference line is worth room unless the curve would become a flat line by it.
    const double dataSpan = std::max(bounds.high - bounds.low, 0.02 * std::abs(bounds.high));
    for (const ReferenceLine &line : m_references)
        if ((!m_logY || line.y > 0) && line.y > bounds.low - dataSpan && line.y < bounds.high + dataSpan) bounds.add(line.y);
    if (m_logY) {
        const double pad = std::pow(bounds.high / bounds.low, 0.05) * (bounds.high > bounds.low ? 1 : 1.1);
        m_plot->yAxis->setRange(bounds.low / pad, bounds.high * pad);
        return;
    }
    if (m_fromZero && bounds.low >= 0) {
        m_plot->yAxis->setRange(0, bounds.high > 0 ? bounds.high * 1.1 : 1);
        return;
    }
    double pad = 0.06 * (bounds.high - bounds.low);
    if (pad <= 0) pad = bounds.high != 0 ? 0.05 * std::abs(bounds.high) : 1;
    m_plot->yAxis->setRange(bounds.low - pad, bounds.high + pad);
}

void Chart::drawLines()
{
    const QCPRange view = m_plot->xAxis->range();
    const int pixels = std::max(1, int(m_plot->axisRect()->width()));
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const ChartSeries &series = m_series[i];
        const auto cut = [&](const std::vector<double> &x, const std::vector<double> &y) {
            return metrics::decimate(x, y, view.lower, view.upper, pixels);
        };
        const bool rawShows = series.smooth && m_smoothing > 0 && series.low.empty();
        setData(m_lines[i].main, cut(series.x, m_lines[i].smoothed));
        setData(m_lines[i].raw, rawShows ? cut(series.x, series.y) : metrics::Polyline());
        setData(m_lines[i].past, cut(series.pastX, series.pastY));
        setData(m_lines[i].low, cut(series.x, m_lines[i].smoothedLow));
        setData(m_lines[i].high, cut(series.x, m_lines[i].smoothedHigh));
        const bool few = series.dots && series.x.size() <= 12;
        m_lines[i].main->setScatterStyle(
            few ? QCPScatterStyle(QCPScatterStyle::ssDisc, QPen(inkOf(series)), QBrush(inkOf(series)), 4.5)
                : QCPScatterStyle(QCPScatterStyle::ssNone));
    }
}

void Chart::drawMarks()
{
    std::vector<double> missing;
    std::vector<ChartOverlay::End> ends;
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const ChartSeries &series = m_series[i];
        for (std::size_t k = 0; k < series.y.size(); ++k)
            if (!std::isfinite(series.y[k])) missing.push_back(series.x[k]);
        const std::vector<double> &line = m_lines[i].smoothed;
        if (m_live && !line.empty() && std::isfinite(line.back()) && !series.ink)
            ends.push_back({series.x.back(), line.back(), inkOf(series)});
    }
    std::sort(missing.begin(), missing.end());
    m_overlay->setMissing(std::move(missing));
    m_overlay->setEnds(std::move(ends));
    m_overlay->setReferences(m_references);
    m_overlay->setEvents(m_events);
}

Chart::Drawn Chart::drawn(std::size_t i) const
{
    Drawn result;
    for (const QCPGraphData &point : *m_lines[i].main->data()) {
        result.x.push_back(point.key);
        result.y.push_back(point.value);
    }
    return result;
}

} // namespace parallax::ui
