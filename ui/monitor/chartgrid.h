// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/runfollower.h"
#include "core/session/workspace.h"
#include "ui/monitor/runfigures.h"

#include <QWidget>

class QGridLayout;
class QScrollArea;

namespace parallax::ui {

class ChartCard;
class PointPopover;

/// The Monitor's charts: loss, kNN, memory, throughput, step time, health. Three columns, two in narrow windows.
class ChartGrid : public QWidget
{
    Q_OBJECT
public:
    explicit ChartGrid(QWidget *parent = nullptr);
    void show(const std::shared_ptr<const session::RunData> &data, const session::RunSummary &run);
    void clear(); ///< another run follows: no cursor, no zoom, no values of the last one
    void setXMode(XMode mode);
    XMode xMode() const { return m_mode; }
    void setSmoothing(double weight);
    void setLogY(bool on); ///< of the loss
    ChartGroup *group() { return &m_group; }
    std::vector<ChartCard *> cards() const { return m_cards; }

Q_SIGNALS:
    void embeddingsRequested(const QString &folder, int epoch);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    enum Place { Loss, Knn, Memory, Throughput, StepTime, Health, PlaceCount };
    void fill();
    void fillLoss();
    void fillKnn();
    void fillMemory();
    void fillSpeed();
    void fillHealth();
    void arrange();
    void enlarge(ChartCard *card);
    void pointClicked(double x, double y, const QPoint &at);

    std::shared_ptr<const session::RunData> m_data;
    session::RunSummary m_run;
    ChartGroup m_group;
    std::vector<ChartCard *> m_cards;
    QScrollArea *m_scroll;
    QWidget *m_page;
    QGridLayout *m_grid;
    PointPopover *m_popover;
    ChartCard *m_enlarged = nullptr;
    XMode m_mode = XMode::Step;
    int m_columns = 0;
};

} // namespace parallax::ui
