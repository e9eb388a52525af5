// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/card.h"
#include "ui/widgets/chart.h"

namespace parallax::ui {

/// Names of a chart's lines with a sample of each and the value that the cursor shows.
class ChartLegend : public QWidget
{
    Q_OBJECT
public:
    explicit ChartLegend(Chart *chart, QWidget *parent = nullptr);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    struct Entry {
        QString name, value;
        QColor color;
        LineStyle style;
    };
    std::vector<Entry> entries() const;
    Chart *m_chart;
};

/// A card with one chart and its legend in the head.
class ChartCard : public Card
{
    Q_OBJECT
public:
    ChartCard(const QString &title, const QString &unit, QWidget *parent = nullptr);
    Chart *chart() const { return m_chart; }

private:
    Chart *m_chart;
};

} // namespace parallax::ui
