// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chartitems.h"

#include <cmath>

namespace parallax::ui {
namespace {

QCPAxis *xAxis(const QCPAbstractItem *item) { return item->parentPlot()->xAxis; }

QCPAxis *yAxis(const QCPAbstractItem *item) { return item->parentPlot()->yAxis; }

void drawDiamond(QPainter *painter, const QPointF &at)
{
    constexpr double r = 3.5;
    painter->drawPolygon(QPolygonF({at + QPointF(0, -r), at + QPointF(r, 0), at + QPointF(0, r), at + QPointF(-r, 0)}));
}

} // namespace

ChartOverlay::ChartOverlay(QCustomPlot *plot) : QCPAbstractItem(plot) { setClipToAxisRect(false); }

void ChartOverlay::draw(QCPPainter *painter)
{
    const QRectF area = parentPlot()->axisRect()->rect();
    painter->setAntialiasing(true);
    drawReferences(painter, area);
    drawEvents(painter, area);
    painter->setPen(QPen(color(Token::Error), 1.25));
    double lastX = -1e9;
    for (const double value : m_missing) {
        const double x = xAxis(this)->coordToPixel(value);
        if (x < area.left() || x > area.right() || x - lastX < 1) continue;
        lastX = x;
        const QPointF at(x, area.bottom());
        painter->drawLine(at + QPointF(-3, -3), at + QPointF(3, 3));
        painter->drawLine(at + QPointF(-3, 3), at + QPointF(3, -3));
    }
    for (const End &end : m_ends) {
        const QPointF at(xAxis(this)->coordToPixel(end.x), yAxis(this)->coordToPixel(end.y));
        if (!area.adjusted(-1, -1, 1, 1).contains(at)) continue;
        painter->setPen(Qt::NoPen);
        painter->setBrush(withAlpha(end.color, 0.22));
        painter->drawEllipse(at, 6, 6);
        painter->setBrush(end.color);
        painter->drawEllipse(at, 2.75, 2.75);
    }
    painter->setBrush(Qt::NoBrush);
}

void ChartOverlay::drawReferences(QCPPainter *painter, const QRectF &area)
{
    painter->setFont(textFont(TextRole::Caption));
    for (const ReferenceLine &line : m_references) {
        const double y = yAxis(this)->coordToPixel(line.y);
        if (!std::isfinite(y) || y < area.top() - 1 || y > area.bottom() + 1) continue;
        painter->setPen(QPen(color(Token::TextMuted), 1, Qt::DotLine));
        painter->setAntialiasing(false);
        painter->drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        painter->setAntialiasing(true);
        // Above the line, or below where there is no room above.
        const double height = painter->fontMetrics().height();
        const bool below = line.below || y - height - 2 < area.top();
        const QRectF place(area.left(), below ? y + 2 : y - height - 1, area.width() - 2, height);
        painter->setPen(color(Token::TextMuted));
        painter->drawText(place, Qt::AlignRight | Qt::AlignVCenter, line.label);
    }
}

void ChartOverlay::drawEvents(QCPPainter *painter, const QRectF &area)
{
    double lastMark = -1e9, lastWarning = -1e9;
    for (const ChartEvent &event : m_events) {
        const double x = xAxis(this)->coordToPixel(event.x);
        if (!std::isfinite(x) || x < area.left() - 0.5 || x > area.right() + 0.5) continue;
        switch (event.kind) {
        case ChartEvent::Kind::Checkpoint:
            if (x - lastMark < 9) break; // a row of diamonds would become a bar
            lastMark = x;
            painter->setPen(QPen(color(Token::TextSecondary), 1));
            painter->setBrush(color(Token::Panel));
            drawDiamond(painter, QPointF(x, area.bottom()));
            break;
        case ChartEvent::Kind::Evaluation:
            painter->setPen(QPen(color(Token::TextSecondary), 1.5));
            painter->drawLine(QPointF(x, area.bottom() - 5), QPointF(x, area.bottom()));
            break;
        case ChartEvent::Kind::Warning:
            if (x - lastWarning < 9) break;
            lastWarning = x;
            painter->setPen(Qt::NoPen);
            painter->setBrush(color(Token::Warn));
            painter->drawPolygon(
                QPolygonF({QPointF(x, area.top()), QPointF(x + 4, area.top() + 7), QPointF(x - 4, area.top() + 7)}));
            break;
        case ChartEvent::Kind::Resume:
            painter->setPen(QPen(color(Token::TextMuted), 1, Qt::DashLine));
            painter->drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
            break;
        case ChartEvent::Kind::Failure: {
            painter->setPen(QPen(color(Token::Error), 1.5));
            painter->drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
            painter->setFont(textFont(TextRole::Chip));
            const double width = painter->fontMetrics().horizontalAdvance(event.label) + 4;
            const bool left = x - width - 6 > area.left();
            painter->drawText(QRectF(left ? x - width - 4 : x + 4, area.top() + area.height() * 0.3, width, 16),
                              Qt::AlignVCenter | (left ? Qt::AlignRight : Qt::AlignLeft), event.label);
            break;
        }
        }
    }
    painter->setBrush(Qt::NoBrush);
}

ChartCursor::ChartCursor(QCustomPlot *plot) : QCPAbstractItem(plot) { setClipToAxisRect(false); }

void ChartCursor::set(std::optional<double> x, std::vector<ChartOverlay::End> dots, QString label)
{
    m_x = x;
    m_dots = std::move(dots);
    m_label = std::move(label);
}

void ChartCursor::draw(QCPPainter *painter)
{
    if (!m_x) return;
    const QRectF area = parentPlot()->axisRect()->rect();
    const double x = xAxis(this)->coordToPixel(*m_x);
    if (x < area.left() || x > area.right()) return;
    QPen dashed(color(Token::ChartCursor), 1);
    dashed.setDashPattern({3, 3});
    painter->setAntialiasing(false);
    painter->setPen(dashed);
    painter->drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    painter->setAntialiasing(true);
    for (const ChartOverlay::End &dot : m_dots) {
        const QPointF at(xAxis(this)->coordToPixel(dot.x), yAxis(this)->coordToPixel(dot.y));
        if (!area.adjusted(-1, -1, 1, 1).contains(at)) continue;
        painter->setPen(QPen(color(Token::Panel), 1.5));
        painter->setBrush(dot.color);
        painter->drawEllipse(at, 3.5, 3.5);
    }
    painter->setBrush(Qt::NoBrush);
    if (m_label.isEmpty()) return;
    painter->setFont(textFont(TextRole::Chip));
    const double width = painter->fontMetrics().horizontalAdvance(m_label) + 16, height = 18;
    QRectF label(x - width / 2, area.bottom() + 3, width, height);
    label.moveLeft(std::clamp(label.left(), area.left() - 4, std::max(area.left(), area.right() - width + 8)));
    painter->setPen(Qt::NoPen);
    painter->setBrush(color(Token::Text));
    painter->drawRoundedRect(label, 4, 4);
    painter->setPen(color(Token::Panel));
    painter->drawText(label, Qt::AlignCenter, m_label);
    painter->setBrush(Qt::NoBrush);
}

} // namespace parallax::ui
