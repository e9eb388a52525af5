// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The part of Chart that answers the mouse, and the group that links charts.
#include "ui/widgets/chart.h"
#include "ui/widgets/chartitems.h"
#include "ui/widgets/charttickers.h"

#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <limits>

namespace parallax::ui {

namespace {
constexpr int dragDistance = 4, clickDistance = 12; ///< px
}

std::optional<std::size_t> Chart::indexAt(std::size_t series, double x) const
{
    const std::vector<double> &xs = m_series[series].x;
    if (xs.empty()) return std::nullopt;
    const auto after = std::lower_bound(xs.begin(), xs.end(), x);
    if (after == xs.begin()) return 0;
    if (after == xs.end()) return xs.size() - 1;
    const std::size_t i = std::size_t(after - xs.begin());
    return x - xs[i - 1] < xs[i] - x ? i - 1 : i;
}

double Chart::shownValue(std::size_t i) const
{
    const double none = std::numeric_limits<double>::quiet_NaN();
    if (i >= m_series.size() || m_lines[i].smoothed.size() != m_series[i].x.size()) return none;
    const std::vector<double> &line = m_lines[i].smoothed;
    if (m_cursor) {
        const auto at = indexAt(i, *m_cursor);
        return at ? line[*at] : none;
    }
    const auto last = std::find_if(line.rbegin(), line.rend(), [](double v) { return std::isfinite(v); });
    return last == line.rend() ? none : *last;
}

void Chart::setCursor(std::optional<double> x)
{
    if (x == m_cursor && !m_owner) return;
    m_cursor = x;
    m_owner = false;
    updateCursor();
    m_plot->layer(QStringLiteral("cursor"))->replot();
    Q_EMIT valuesChanged();
}

void Chart::takeCursor(std::optional<double> x)
{
    if (x == m_cursor) return;
    m_cursor = x;
    m_owner = x.has_value();
    updateCursor();
    m_plot->layer(QStringLiteral("cursor"))->replot();
    Q_EMIT valuesChanged();
    Q_EMIT cursorMoved(x);
}

void Chart::updateCursor()
{
    std::vector<ChartOverlay::End> dots;
    for (std::size_t i = 0; m_cursor && i < m_series.size(); ++i) {
        const auto at = indexAt(i, *m_cursor);
        const double y = shownValue(i);
        if (at && std::isfinite(y)) dots.push_back({m_series[i].x[*at], y, inkOf(m_series[i])});
    }
    m_cursorItem->set(m_cursor, std::move(dots), m_cursor && m_owner ? cursorText(m_xScale, *m_cursor) : QString());
}

bool Chart::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_plot || m_compact) return QWidget::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::MouseMove: {
        const QPoint at = static_cast<QMouseEvent *>(event)->pos();
        if (m_pressed && (m_dragged || (at - *m_pressed).manhattanLength() > dragDistance)) pan(at);
        const QRect area = m_plot->axisRect()->rect();
        if (!area.adjusted(-2, 0, 2, 24).contains(at) || m_series.empty() || m_series.front().x.empty()) {
            takeCursor(std::nullopt);
            return false;
        }
        // The cursor stands on a value, not between two: on the nearest point of the first line.
        const auto index = indexAt(0, m_plot->xAxis->pixelToCoord(at.x()));
        takeCursor(m_series.front().x[*index]);
        return false;
    }
    case QEvent::Leave: takeCursor(std::nullopt); return false;
    case QEvent::MouseButtonPress: {
        const auto *press = static_cast<QMouseEvent *>(event);
        if (press->button() != Qt::LeftButton) return false;
        m_pressed = press->pos();
        m_dragged = false;
        std::tie(m_pressedFrom, m_pressedTo) = std::pair(xRange().first, xRange().second);
        return false;
    }
    case QEvent::MouseButtonRelease: {
        const auto *release = static_cast<QMouseEvent *>(event);
        if (release->button() == Qt::LeftButton && m_pressed && !m_dragged) clicked(release->pos());
        m_pressed.reset();
        return false;
    }
    case QEvent::MouseButtonDblClick:
        m_pressed.reset();
        fit();
        Q_EMIT fitted();
        return true;
    case QEvent::Wheel: {
        const auto *wheel = static_cast<QWheelEvent *>(event);
        if (wheel->angleDelta().y() == 0) return false;
        zoom(std::pow(0.85, wheel->angleDelta().y() / 120.0), int(wheel->position().x()));
        return true;
    }
    default: return QWidget::eventFilter(watched, event);
    }
}

void Chart::pan(const QPoint &to)
{
    m_dragged = true;
    const double width = std::max(1, m_plot->axisRect()->width());
    const double shift = (m_pressed->x() - to.x()) / width * (m_pressedTo - m_pressedFrom);
    setRangeByPerson(m_pressedFrom + shift, m_pressedTo + shift);
}

void Chart::zoom(double factor, int pixel)
{
    const auto [from, to] = xRange();
    const double at = std::clamp(m_plot->xAxis->pixelToCoord(pixel), from, to);
    setRangeByPerson(at - (at - from) * factor, at + (to - at) * factor);
}

void Chart::setRangeByPerson(double from, double to)
{
    const auto all = dataRange();
    if (!all) return;
    const double whole = std::max(all->second - all->first, 1e-9) * 1.02;
    if (to - from >= whole) {
        fit();
        Q_EMIT fitted();
        return;
    }
    const double span = std::max(to - from, whole * 1e-6);
    from = std::clamp(from, all->first, all->first + whole - span);
    setXRange(from, from + span);
    Q_EMIT rangeChanged(from, from + span);
}

void Chart::clicked(const QPoint &at)
{
    for (std::size_t i = 0; i < m_series.size(); ++i) {
        if (!m_series[i].dots || m_lines[i].smoothed.size() != m_series[i].x.size()) continue;
        const auto index = indexAt(i, m_plot->xAxis->pixelToCoord(at.x()));
        if (!index || !std::isfinite(m_lines[i].smoothed[*index])) continue;
        const double x = m_series[i].x[*index], y = m_lines[i].smoothed[*index];
        const QPointF point(m_plot->xAxis->coordToPixel(x), m_plot->yAxis->coordToPixel(y));
        if (QLineF(point, at).length() > clickDistance) continue;
        Q_EMIT pointClicked(i, x, y, m_plot->mapTo(this, point.toPoint()));
        return;
    }
}

void ChartGroup::add(Chart *chart)
{
    m_charts.push_back(chart);
    connect(chart, &Chart::cursorMoved, this, [this, chart](std::optional<double> x) {
        for (Chart *other : m_charts)
            if (other != chart) other->setCursor(x);
    });
    connect(chart, &Chart::rangeChanged, this, [this, chart](double from, double to) {
        for (Chart *other : m_charts)
            if (other != chart) other->setXRange(from, to);
        Q_EMIT followingChanged(false);
    });
    connect(chart, &Chart::fitted, this, &ChartGroup::fit);
}

void ChartGroup::fit() { setFollowing(true); }

void ChartGroup::setFollowing(bool on)
{
    for (Chart *chart : m_charts) chart->setFollowing(on);
    Q_EMIT followingChanged(on);
}

bool ChartGroup::following() const
{
    return std::all_of(m_charts.begin(), m_charts.end(), [](const Chart *chart) { return chart->following(); });
}

} // namespace parallax::ui
