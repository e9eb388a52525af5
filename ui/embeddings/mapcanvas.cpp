// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/mapcanvas.h"

#include "ui/embeddings/pointraster.h"
#include "ui/embeddings/thumbs.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QFocusEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace parallax::embeddings {
namespace {

using ui::Token;

constexpr double pointRadius = 1.7, pointOpacity = 0.62, dimmedOpacity = 0.12;
constexpr double reach = 8, margin = 28;
constexpr std::size_t mostJoined = 10; // more lines hide the points
constexpr double smallestZoom = 0.2, largestZoom = 2000;

} // namespace

MapCanvas::MapCanvas(Thumbs *thumbs, QWidget *parent) : QWidget(parent), m_thumbs(thumbs)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Map of the embeddings"));
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(240, 200);
    connect(thumbs, &Thumbs::arrived, this, qOverload<>(&QWidget::update));
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, &MapCanvas::invalidate);
}

void MapCanvas::setData(std::shared_ptr<const MapData> data)
{
    m_data = std::move(data);
    m_chosen = m_hovered = -1;
    m_neighbours.clear();
    m_highlighted = -1;
    m_visible.assign(m_data ? m_data->classes.size() : 0, true);
    measure();
    fit();
}

void MapCanvas::setVisibleClasses(std::vector<bool> visible)
{
    m_visible = std::move(visible);
    setHovered(-1);
    invalidate();
}

void MapCanvas::setHighlightedClass(int index)
{
    if (index == m_highlighted) return;
    m_highlighted = index;
    invalidate();
}

void MapCanvas::setChosen(std::int64_t item, std::vector<embedding::Neighbour> neighbours)
{
    m_chosen = item;
    m_neighbours = std::move(neighbours);
    if (m_neighbours.size() > mostJoined) m_neighbours.resize(mostJoined);
    update();
}

bool MapCanvas::shown(std::int64_t item) const
{
    return m_visible[std::size_t(m_data->classOf[std::size_t(item)])] &&
        std::isfinite(m_data->map.xy[std::size_t(item) * 2]);
}

/// The data's y points up, the widget's down.
QPointF MapCanvas::toWidget(double x, double y) const
{
    return {width() / 2.0 + (x - m_centre.x()) * scale(), height() / 2.0 - (y - m_centre.y()) * scale()};
}

std::optional<QPointF> MapCanvas::position(std::int64_t item) const
{
    if (!m_data || item < 0 || item >= m_data->count()) return {};
    const float *xy = m_data->map.xy.data() + item * 2;
    if (!std::isfinite(xy[0]) || !std::isfinite(xy[1])) return {};
    return toWidget(xy[0], xy[1]);
}

std::int64_t MapCanvas::itemAt(const QPointF &at) const
{
    if (!m_data) return -1;
    std::int64_t nearest = -1;
    double best = reach * reach;
    // From the last to the first: of points on one place the one drawn on top is met.
    for (std::int64_t item = m_data->count() - 1; item >= 0; --item) {
        if (!shown(item)) continue;
        const QPointF d = toWidget(m_data->map.xy[item * 2], m_data->map.xy[item * 2 + 1]) - at;
        const double distance = d.x() * d.x() + d.y() * d.y();
        if (distance < best) {
            best = distance;
            nearest = item;
        }
    }
    return nearest;
}

void MapCanvas::measure()
{
    m_bounds = {};
    if (!m_data) return;
    double left = INFINITY, right = -INFINITY, bottom = INFINITY, top = -INFINITY;
    for (std::size_t i = 0; i < m_data->map.xy.size(); i += 2) {
        const double x = m_data->map.xy[i], y = m_data->map.xy[i + 1];
        if (!std::isfinite(x) || !std::isfinite(y)) continue;
        left = std::min(left, x);
        right = std::max(right, x);
        bottom = std::min(bottom, y);
        top = std::max(top, y);
    }
    if (left <= right) m_bounds = QRectF(left, bottom, right - left, top - bottom);
}

void MapCanvas::fit()
{
    m_zoom = 1;
    const QRectF room = QRectF(rect()).marginsRemoved(m_insets).adjusted(margin, margin, -margin, -margin);
    const double w = std::max(1.0, room.width()), h = std::max(1.0, room.height());
    m_fitScale = INFINITY;
    if (m_bounds.width() > 0) m_fitScale = w / m_bounds.width();
    if (m_bounds.height() > 0) m_fitScale = std::min(m_fitScale, h / m_bounds.height());
    if (!std::isfinite(m_fitScale)) m_fitScale = 1; // every point on one place
    const QPointF off = QRectF(rect()).center() - room.center();
    m_centre = m_bounds.center() + QPointF(off.x(), -off.y()) / m_fitScale;
    invalidate();
}

void MapCanvas::setInsets(const QMargins &insets)
{
    if (insets == m_insets) return;
    m_insets = insets;
    if (m_zoom == 1) fit();
}

void MapCanvas::zoomBy(double factor) { zoomAt(QRectF(rect()).center(), factor); }

void MapCanvas::zoomAt(const QPointF &at, double factor)
{
    const double zoom = std::clamp(m_zoom * factor, smallestZoom, largestZoom);
    const QPointF offset(at.x() - width() / 2.0, height() / 2.0 - at.y());
    const QPointF under = m_centre + offset / scale();
    m_zoom = zoom;
    m_centre = under - offset / scale(); // what was under the mouse stays there
    invalidate();
}

void MapCanvas::pan(const QPointF &by)
{
    m_centre -= QPointF(by.x(), -by.y()) / scale();
    invalidate();
}

void MapCanvas::invalidate()
{
    m_stale = true;
    update();
}

void MapCanvas::render()
{
    const double ratio = devicePixelRatioF();
    const QSize size = (QSizeF(this->size()) * ratio).toSize();
    if (m_points.size() != size) m_points = QImage(size, QImage::Format_ARGB32_Premultiplied);
    m_points.setDevicePixelRatio(ratio);
    m_points.fill(ui::color(Token::Canvas));
    m_stale = false;
    if (!m_data) return;
    std::vector<QColor> colors;
    for (const ClassInfo &info : m_data->classes)
        colors.push_back(info.series < 0 ? ui::color(Token::AccentLine) : ui::Theme::instance().series(info.series));
    const PointRaster raster(pointRadius * ratio);
    for (std::int64_t item = 0; item < m_data->count(); ++item) {
        if (!shown(item)) continue;
        const int c = m_data->classOf[std::size_t(item)];
        const QPointF at = toWidget(m_data->map.xy[item * 2], m_data->map.xy[item * 2 + 1]) * ratio;
        raster.draw(m_points, at.x(), at.y(), colors[std::size_t(c)],
                    m_highlighted < 0 || m_highlighted == c ? pointOpacity : dimmedOpacity);
    }
}

void MapCanvas::paintEvent(QPaintEvent *)
{
    if (m_stale) render();
    QPainter painter(this);
    painter.drawImage(0, 0, m_points);
    if (!m_data) return;
    painter.setRenderHint(QPainter::Antialiasing);
    paintChosen(painter);
    paintHover(painter);
    if (m_ring) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(ui::color(Token::SelectionLine), 1));
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void MapCanvas::paintRing(QPainter &painter, const QPointF &at, double radius, double ring, std::int64_t item) const
{
    const ClassInfo &info = m_data->classes[std::size_t(m_data->classOf[std::size_t(item)])];
    painter.setPen(Qt::NoPen);
    painter.setBrush(ui::color(Token::Text)); // a thin outer edge keeps the white ring visible on a light canvas
    painter.drawEllipse(at, radius + ring + 0.8, radius + ring + 0.8);
    painter.setBrush(Qt::white);
    painter.drawEllipse(at, radius + ring, radius + ring);
    painter.setBrush(info.series < 0 ? ui::color(Token::AccentLine) : ui::Theme::instance().series(info.series));
    painter.drawEllipse(at, radius, radius);
}

void MapCanvas::paintChosen(QPainter &painter) const
{
    const auto from = position(m_chosen);
    if (!from) return;
    painter.setPen(QPen(ui::withAlpha(ui::color(Token::Text), 0.55), 1));
    for (const auto &neighbour : m_neighbours)
        if (const auto to = position(neighbour.item)) painter.drawLine(*from, *to);
    for (const auto &neighbour : m_neighbours)
        if (const auto to = position(neighbour.item)) paintRing(painter, *to, 3.6, 1.2, neighbour.item);
    paintRing(painter, *from, 4.5, 2, m_chosen);
}

void MapCanvas::paintHover(QPainter &painter)
{
    const auto at = position(m_hovered);
    if (!at) return;
    paintRing(painter, *at, 3.6, 1.5, m_hovered);
    const ClassInfo &info = m_data->classes[std::size_t(m_data->classOf[std::size_t(m_hovered)])];
    const QFont nameFont = ui::textFont(ui::TextRole::State), labelFont = ui::textFont(ui::TextRole::Table);
    const QFontMetricsF nameMetrics(nameFont), labelMetrics(labelFont);
    const double side = 56, pad = 8, line = nameMetrics.height() + 2;
    const QString name = nameMetrics.elidedText(m_data->name(m_hovered), Qt::ElideMiddle, 220);
    const QString label = labelMetrics.elidedText(info.name, Qt::ElideRight, 220);
    const double textWidth = std::max(nameMetrics.horizontalAdvance(name), labelMetrics.horizontalAdvance(label));
    QRectF box(at->x() + 14, at->y() + 10, pad * 3 + side + textWidth, side + 2 * pad);
    if (box.right() > width() - 4) box.moveRight(at->x() - 14);
    if (box.bottom() > height() - 4) box.moveBottom(at->y() - 10);
    box.moveLeft(std::max(4.0, box.left()));
    box.moveTop(std::max(4.0, box.top()));
    painter.setPen(QPen(ui::color(Token::ControlLine), 1));
    painter.setBrush(ui::color(Token::Raised));
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    m_thumbs->paint(&painter, QRectF(box.left() + pad, box.top() + pad, side, side), m_hovered);
    const double left = box.left() + 2 * pad + side, top = box.center().y() - line;
    painter.setFont(nameFont);
    painter.setPen(ui::color(Token::Text));
    painter.drawText(QRectF(left, top, textWidth + 1, line), Qt::AlignVCenter | Qt::AlignLeft, name);
    painter.setFont(labelFont);
    painter.setPen(ui::color(Token::TextSecondary));
    painter.drawText(QRectF(left, top + line, textWidth + 1, line), Qt::AlignVCenter | Qt::AlignLeft, label);
}

void MapCanvas::setHovered(std::int64_t item)
{
    if (item == m_hovered) return;
    m_hovered = item;
    update();
    Q_EMIT hoveredChanged(item);
}

void MapCanvas::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    const double zoom = m_zoom;
    const QPointF centre = m_centre;
    fit();
    if (zoom != 1) {
        m_zoom = zoom;
        m_centre = centre;
    }
}

void MapCanvas::wheelEvent(QWheelEvent *event)
{
    zoomAt(event->position(), std::pow(1.0015, event->angleDelta().y()));
    event->accept();
}

void MapCanvas::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
    m_down = true;
    m_dragging = false;
    m_pressed = m_last = event->position();
}

void MapCanvas::mouseMoveEvent(QMouseEvent *event)
{
    if (!m_down) {
        setHovered(itemAt(event->position()));
        return;
    }
    if (!m_dragging && (event->position() - m_pressed).manhattanLength() < QApplication::startDragDistance()) return;
    m_dragging = true;
    setCursor(Qt::ClosedHandCursor);
    setHovered(-1);
    pan(event->position() - m_last);
    m_last = event->position();
}

void MapCanvas::mouseReleaseEvent(QMouseEvent *event)
{
    if (!m_down) return;
    m_down = false;
    unsetCursor();
    if (!m_dragging && event->button() == Qt::LeftButton) Q_EMIT clicked(itemAt(event->position()));
}

void MapCanvas::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (itemAt(event->position()) < 0) fit();
}

void MapCanvas::leaveEvent(QEvent *) { setHovered(-1); }

void MapCanvas::keyPressEvent(QKeyEvent *event)
{
    constexpr double step = 40, factor = 1.25;
    switch (event->key()) {
    case Qt::Key_F: fit(); break;
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoomBy(factor); break;
    case Qt::Key_Minus: zoomBy(1 / factor); break;
    case Qt::Key_Left: pan({step, 0}); break;
    case Qt::Key_Right: pan({-step, 0}); break;
    case Qt::Key_Up: pan({0, step}); break;
    case Qt::Key_Down: pan({0, -step}); break;
    case Qt::Key_Escape: Q_EMIT clicked(-1); break;
    default: QWidget::keyPressEvent(event);
    }
}

/// The ring is for those who came by keyboard; after a click everybody knows where they are.
void MapCanvas::focusInEvent(QFocusEvent *event)
{
    m_ring = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    QWidget::focusInEvent(event);
}

void MapCanvas::focusOutEvent(QFocusEvent *event)
{
    m_ring = false;
    QWidget::focusOutEvent(event);
}

} // namespace parallax::embeddings
