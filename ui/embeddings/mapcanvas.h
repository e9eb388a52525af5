// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/embeddings/mapdata.h"

#include <QImage>
#include <QMargins>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace parallax::embeddings {

class Thumbs;

/// The scatter: points drawn into an image that is kept until data, view or theme change; rings, lines and the picture under
/// the mouse are painted above it. Wheel zooms, a drag pans, a click chooses, F fits, arrows and + - work as well.
class MapCanvas : public QWidget
{
    Q_OBJECT
public:
    explicit MapCanvas(Thumbs *thumbs, QWidget *parent = nullptr);

    /// Another map; the view is fitted and nothing is chosen. Null: an empty canvas.
    void setData(std::shared_ptr<const MapData> data);
    /// visible[c]: points of class c are drawn and can be met by the mouse.
    void setVisibleClasses(std::vector<bool> visible);
    /// Points of this class stand out, the others step back; -1: all alike.
    void setHighlightedClass(int index);
    /// Room that other widgets take over the canvas: a fitted map stays clear of it.
    void setInsets(const QMargins &insets);
    void setChosen(std::int64_t item, std::vector<embedding::Neighbour> neighbours = {});
    std::int64_t chosen() const { return m_chosen; }
    std::int64_t hovered() const { return m_hovered; }
    /// Where an item is on the widget; nothing for items that are not on the map.
    std::optional<QPointF> position(std::int64_t item) const;
    /// The visible item nearest to `at`, at most 8 px away; -1: none.
    std::int64_t itemAt(const QPointF &at) const;
    double zoom() const { return m_zoom; } ///< 1: fitted

public Q_SLOTS:
    void fit();
    void zoomBy(double factor);

Q_SIGNALS:
    void clicked(std::int64_t item); ///< -1: beside all points
    void hoveredChanged(std::int64_t item);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

private:
    bool shown(std::int64_t item) const;
    double scale() const { return m_fitScale * m_zoom; }
    QPointF toWidget(double x, double y) const;
    void zoomAt(const QPointF &at, double factor);
    void pan(const QPointF &by);
    void measure();
    void invalidate();
    void render();
    void setHovered(std::int64_t item);
    void paintChosen(QPainter &painter) const;
    void paintHover(QPainter &painter);
    void paintRing(QPainter &painter, const QPointF &at, double radius, double ring, std::int64_t item) const;

    Thumbs *m_thumbs;
    std::shared_ptr<const MapData> m_data;
    std::vector<bool> m_visible;
    int m_highlighted = -1;
    std::int64_t m_chosen = -1, m_hovered = -1;
    std::vector<embedding::Neighbour> m_neighbours;

    QRectF m_bounds; ///< of the data
    double m_fitScale = 1, m_zoom = 1;
    QPointF m_centre; ///< data coordinates in the middle of the widget
    QImage m_points;
    bool m_stale = true;
    QPointF m_pressed, m_last;
    bool m_dragging = false, m_down = false, m_ring = false;
    QMargins m_insets;
};

} // namespace parallax::embeddings
