// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chart.h"

#include "core/metrics/series.h"
#include "ui/widgets/chartitems.h"
#include "ui/widgets/charttickers.h"
#include "ui/widgets/format.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace parallax::ui {
namespace {

constexpr int redrawMs = 33; ///< at most 30 redraws a second

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

Chart::Chart(QWidget *parent) : QWidget(parent), m_plot(new QCustomPlot(this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_plot);
    m_plot->addLayer(QStringLiteral("raw"), m_plot->layer(QStringLiteral("main")), QCustomPlot::limBelow);
    m_plot->addLayer(QStringLiteral("events"), m_plot->layer(QStringLiteral("axes")), QCustomPlot::limAbove);
    m_plot->addLayer(QStringLiteral("cursor"), m_plot->layer(QStringLiteral("overlay")), QCustomPlot::limAbove);
    m_plot->layer(QStringLiteral("cursor"))->setMode(QCPLayer::lmBuffered);
    m_plot->setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
    m_plot->axisRect()->setAutoMargins(QCP::msNone);
    m_plot->setMouseTracking(true);
    m_plot->installEventFilter(this);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_overlay = new ChartOverlay(m_plot);
    m_overlay->setLayer(QStringLiteral("events"));
    m_cursorItem = new ChartCursor(m_plot);
    m_cursorItem->setLayer(QStringLiteral("cursor"));
    m_redraw.setSingleShot(true);
    m_redraw.setInterval(redrawMs);
    connect(&m_redraw, &QTimer::timeout, this, &Chart::rebuild);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        styleAll();
        schedule();
    });
    styleAll();
}

void Chart::setSeries(std::vector<ChartSeries> series)
{
    m_series = std::move(series);
    m_smoothIsStale = true;
    matchLines();
    schedule();
}

void Chart::setReferences(std::vector<ReferenceLine> lines)
{
    m_references = std::move(lines);
    schedule();
}

void Chart::setEvents(std::vector<ChartEvent> events)
{
    m_events = std::move(events);
    schedule();
}

void Chart::setSmoothing(double weight)
{
    if (weight == m_smoothing) return;
    m_smoothing = weight;
    m_smoothIsStale = true;
    schedule();
}

void Chart::setXScale(XScale scale)
{
    if (scale == m_xScale) return;
    m_xScale = scale;
    m_cursor.reset();
    styleAll();
    fit();
}

void Chart::setLogY(bool on)
{
    m_logY = on;
    styleAll();
    schedule();
}

void Chart::setFromZero(bool on)
{
    m_fromZero = on;
    schedule();
}

void Chart::setLive(bool live)
{
    m_live = live;
    schedule();
}

void Chart::setFollowing(bool on)
{
    m_following = on;
    schedule();
}

void Chart::setCompact(bool compact)
{
    m_compact = compact;
    styleAll();
    schedule();
}

void Chart::setXRange(double from, double to)
{
    m_following = false;
    m_plot->xAxis->setRange(from, to);
    schedule();
}

QPair<double, double> Chart::xRange() const { return {m_plot->xAxis->range().lower, m_plot->xAxis->range().upper}; }

QPair<double, double> Chart::yRange() const { return {m_plot->yAxis->range().lower, m_plot->yAxis->range().upper}; }

QString Chart::valueText(double value) const
{
    return m_decimals < 0 ? formatMetric(value) : formatFixed(value, m_decimals);
}

QColor Chart::inkOf(const ChartSeries &series) const
{
    return series.ink ? color(*series.ink) : Theme::instance().series(series.color);
}

void Chart::styleAll()
{
    m_plot->setBackground(QBrush(color(Token::Panel)));
    // Labels stand under the axis; events need a little more room for their lower half.
    m_plot->axisRect()->setMargins(m_compact ? QMargins(34, 4, 10, 20) : QMargins(44, 8, 14, 26));
    const QFont labels = textFont(TextRole::Caption);
    for (QCPAxis *axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setTickLabelFont(labels);
        axis->setTickLabelColor(color(Token::TextMuted));
        axis->setSubTicks(false);
        axis->grid()->setZeroLinePen(Qt::NoPen);
        axis->grid()->setSubGridVisible(false);
    }
    QCPAxis *x = m_plot->xAxis, *y = m_plot->yAxis;
    x->grid()->setVisible(false);
    x->setBasePen(QPen(color(Token::ChartAxis), 1));
    x->setTickPen(QPen(color(Token::ChartAxis), 1));
    x->setTickLength(0, 4);
    x->setTickLabelPadding(2);
    x->setTicker(makeXTicker(m_xScale, m_compact ? 4 : 5));
    y->grid()->setPen(QPen(color(Token::ChartGrid), 1));
    y->setBasePen(Qt::NoPen);
    y->setTickPen(Qt::NoPen);
    y->setTickLength(0, 0);
    y->setTickLabelPadding(8);
    y->setScaleType(m_logY ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    auto ticker = QSharedPointer<NumberTicker>::create(m_compact ? 3 : 5);
    ticker->setLogarithmic(m_logY);
    y->setTicker(ticker);
    matchLines();
}

void Chart::matchLines()
{
    while (m_lines.size() > m_series.size()) {
        for (QCPGraph *graph : {m_lines.back().raw, m_lines.back().past, m_lines.back().main}) m_plot->removeGraph(graph);
        m_lines.pop_back();
    }
    while (m_lines.size() < m_series.size()) {
        Line line;
        line.past = m_plot->addGraph();
        line.raw = m_plot->addGraph();
        line.main = m_plot->addGraph();
        line.past->setLayer(QStringLiteral("raw"));
        line.raw->setLayer(QStringLiteral("raw"));
        line.raw->setAntialiased(false);
        line.past->setAntialiased(false);
        line.main->setAntialiased(true);
        m_lines.push_back(std::move(line));
    }
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        const ChartSeries &series = m_series[i];
        const QColor ink = inkOf(series);
        QPen pen(ink, m_compact ? 1.5 : series.width, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
        if (series.dashed) pen.setDashPattern({3, 2});
        m_lines[i].main->setPen(pen);
        m_lines[i].main->setBrush(series.fill ? QBrush(withAlpha(ink, 0.08)) : QBrush(Qt::NoBrush));
        const QPen faint(withAlpha(ink, Theme::instance().rawTraceOpacity()), 1);
        m_lines[i].raw->setPen(faint);
        m_lines[i].past->setPen(faint);
    }
}

void Chart::schedule()
{
    if (!m_redraw.isActive()) m_redraw.start();
}

void Chart::flush()
{
    m_redraw.stop();
    rebuild();
    m_plot->replot(QCustomPlot::rpImmediateRefresh);
}

void Chart::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    schedule();
}

void Chart::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    schedule();
}

void Chart::rebuild()
{
    // A hidden chart draws when it is shown again; its values may still be asked for.
    smoothAll();
    if (m_following) fitRange();
    fitValues();
    drawLines();
    drawMarks();
    updateCursor();
    if (isVisible()) m_plot->replot(QCustomPlot::rpQueuedReplot);
    Q_EMIT valuesChanged();
}

void Chart::smoothAll()
{
    if (!m_smoothIsStale) return;
    m_smoothIsStale = false;
    for (std::size_t i = 0; i < m_series.size(); ++i)
        m_lines[i].smoothed =
            m_series[i].smooth && m_smoothing > 0 ? metrics::smooth(m_series[i].y, m_smoothing) : m_series[i].y;
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
            if (!m_logY || m_lines[i].smoothed[k] > 0) bounds.add(m_lines[i].smoothed[k]);
        if (!series.smooth || m_smoothing <= 0 || first >= last) continue;
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
        setData(m_lines[i].main, metrics::decimate(series.x, m_lines[i].smoothed, view.lower, view.upper, pixels));
        const bool rawShows = series.smooth && m_smoothing > 0;
        setData(m_lines[i].raw,
                rawShows ? metrics::decimate(series.x, series.y, view.lower, view.upper, pixels) : metrics::Polyline());
        setData(m_lines[i].past, metrics::decimate(series.pastX, series.pastY, view.lower, view.upper, pixels));
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
