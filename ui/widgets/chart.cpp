// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chart.h"

#include "ui/widgets/chartitems.h"
#include "ui/widgets/charttickers.h"
#include "ui/widgets/format.h"

#include <QVBoxLayout>

#include <algorithm>

namespace parallax::ui {
namespace {

constexpr int redrawMs = 33; ///< at most 30 redraws a second

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

void Chart::setOpacity(std::size_t series, double opacity)
{
    if (series >= m_series.size() || m_series[series].opacity == opacity) return;
    m_series[series].opacity = opacity;
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
    const QColor ink = series.ink ? color(*series.ink) : Theme::instance().series(series.color);
    return withAlpha(ink, std::clamp(series.opacity, 0.0, 1.0));
}

void Chart::styleAll()
{
    m_plot->setBackground(QBrush(color(Token::Panel)));
    // Labels stand under the axis; events need a little more room for their lower half.
    m_plot->axisRect()->setMargins(m_compact ? QMargins(40, 4, 10, 20) : QMargins(44, 8, 14, 26));
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
        const Line &line = m_lines.back();
        line.high->setChannelFillGraph(nullptr);
        for (QCPGraph *graph : {line.raw, line.past, line.main, line.low, line.high}) m_plot->removeGraph(graph);
        m_lines.pop_back();
    }
    while (m_lines.size() < m_series.size()) {
        Line line;
        line.past = m_plot->addGraph();
        line.raw = m_plot->addGraph();
        line.main = m_plot->addGraph();
        line.low = m_plot->addGraph();
        line.high = m_plot->addGraph();
        for (QCPGraph *edge : {line.low, line.high}) {
            edge->setLayer(QStringLiteral("raw"));
            edge->setPen(Qt::NoPen);
            edge->setAntialiasedFill(false);
        }
        line.high->setChannelFillGraph(line.low);
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
        const auto faded = [&](double alpha) { return withAlpha(ink, alpha * ink.alphaF()); };
        m_lines[i].main->setPen(linePen(ink, m_compact ? 1.5 : series.width, series.style));
        m_lines[i].main->setBrush(series.fill ? QBrush(faded(0.08)) : QBrush(Qt::NoBrush));
        m_lines[i].high->setBrush(faded(0.16));
        const QPen faint(faded(Theme::instance().rawTraceOpacity()), 1);
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

} // namespace parallax::ui
