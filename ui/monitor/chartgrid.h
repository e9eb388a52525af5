// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/runfollower.h"
#include "core/session/workspace.h"
#include "ui/monitor/runfigures.h"

#include <QStringList>
#include <QWidget>

#include <functional>
#include <map>

class QGridLayout;
class QMenu;
class QScrollArea;

namespace parallax::ui {

class ChartCard;
class PointPopover;

/// The Monitor's charts, those of the catalogue that the person wants, in that order; remembered. Three columns, two in
/// narrow windows.
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
    std::vector<ChartCard *> cards() const; ///< those that are shown, in their order
    QStringList shown() const { return m_shown; }
    void setShown(const QStringList &charts);
    /// What the cards' menus write; the same bytes in every locale.
    Status savePicture(const QString &chart, const QString &file);
    Status savePoints(const QString &chart, const QString &file, bool visibleOnly);
    /// Fills a menu with every chart of this run to show and hide, and the way back to the first choice.
    void fillMenu(QMenu *menu);

Q_SIGNALS:
    void saved(const QString &message);
    void saveFailed(const QString &message);
    void embeddingsRequested(const QString &folder, int epoch);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    void fill();
    void fillCard(const QString &chart);
    ChartCard *card(const QString &chart);
    ChartCard *makeCard(const QString &chart);
    void fillCardMenu(QMenu *menu, const QString &chart);
    void move(const QString &chart, int by);
    void arrange();
    void enlarge(const QString &chart);
    void ask(const QString &chart, const QString &title, const QString &filter,
             const std::function<Status(const QString &file)> &save);
    void pointClicked(double x, double y, const QPoint &at);

    std::shared_ptr<const session::RunData> m_data;
    session::RunSummary m_run;
    ChartGroup m_group;
    std::map<QString, ChartCard *> m_cards; ///< those that were shown so far
    QStringList m_shown;
    QScrollArea *m_scroll;
    QWidget *m_page;
    QGridLayout *m_grid;
    PointPopover *m_popover;
    QString m_enlarged; ///< empty: none
    XMode m_mode = XMode::Step;
    double m_smoothing = 0;
    bool m_logY = false;
    int m_columns = 0;
};

} // namespace parallax::ui
