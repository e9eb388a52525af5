// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/chart.h"

#include <qcustomplot.h>

namespace parallax::ui {

/// Reference lines, marks of missing values, events and the live ends of lines: whatever is no curve.
class ChartOverlay : public QCPAbstractItem
{
    Q_OBJECT
public:
    explicit ChartOverlay(QCustomPlot *plot);
    void setReferences(std::vector<ReferenceLine> lines) { m_references = std::move(lines); }
    void setEvents(std::vector<ChartEvent> events) { m_events = std::move(events); }
    /// x of values that are not finite; one mark a pixel at most.
    void setMissing(std::vector<double> x) { m_missing = std::move(x); }
    struct End {
        double x, y;
        QColor color;
    };
    void setEnds(std::vector<End> ends) { m_ends = std::move(ends); }
    double selectTest(const QPointF &, bool, QVariant *) const override { return -1; }

protected:
    void draw(QCPPainter *painter) override;

private:
    void drawReferences(QCPPainter *painter, const QRectF &area);
    void drawEvents(QCPPainter *painter, const QRectF &area);
    std::vector<ReferenceLine> m_references;
    std::vector<ChartEvent> m_events;
    std::vector<double> m_missing;
    std::vector<End> m_ends;
};

/// The cursor: alone on a buffered layer, so that moving the mouse draws nothing else again.
class ChartCursor : public QCPAbstractItem
{
    Q_OBJECT
public:
    explicit ChartCursor(QCustomPlot *plot);
    /// `label` is empty in the charts that only follow.
    void set(std::optional<double> x, std::vector<ChartOverlay::End> dots, QString label);
    double selectTest(const QPointF &, bool, QVariant *) const override { return -1; }

protected:
    void draw(QCPPainter *painter) override;

private:
    std::optional<double> m_x;
    std::vector<ChartOverlay::End> m_dots;
    QString m_label;
};

} // namespace parallax::ui
