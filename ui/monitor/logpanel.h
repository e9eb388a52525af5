// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/runfollower.h"

#include <QWidget>

#include <memory>

class QListView;
class QPushButton;

namespace parallax::ui {

class ChoiceBox;
class LogFilter;
class LogModel;
class SearchField;
class SegmentedControl;

/// The log below the charts: filters by rank, level and text, and follows its end until one scrolls up.
class LogPanel : public QWidget
{
    Q_OBJECT
public:
    explicit LogPanel(QWidget *parent = nullptr);
    void show(const std::shared_ptr<const session::RunData> &data); ///< null: nothing
    /// Unfiltered, at the first error: for a failed run.
    void showFirstError();

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QWidget *makeHead();
    void setRanks(int world);
    void copy();
    void scrollToEnd();

    LogModel *m_model;
    LogFilter *m_filter;
    QListView *m_view;
    SegmentedControl *m_ranks;
    ChoiceBox *m_level;
    SearchField *m_search;
    QPushButton *m_follow;
    int m_world = -1;
};

} // namespace parallax::ui
