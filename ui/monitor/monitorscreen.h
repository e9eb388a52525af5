// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/runfollower.h"
#include "core/session/workspace.h"
#include "ui/widgets/screen.h"

#include <memory>

class QPushButton;
class QSlider;
class QStackedWidget;

namespace parallax::ui {

class ChartGrid;
class EmptyState;
class FailureCard;
class KeyFigures;
class LogPanel;
class RunActions;
class RunHeader;
class SegmentedControl;
class Strip;

/// One run, live: progress, key figures, charts, log.
class MonitorScreen : public Screen
{
    Q_OBJECT
public:
    MonitorScreen(session::Workspace *workspace, RunActions *actions, QWidget *parent = nullptr);
    void activate() override;
    QString run() const { return m_follower ? m_follower->folder() : QString(); }
    ChartGrid *charts() const { return m_charts; }

public Q_SLOTS:
    void openRun(const QString &folder);

Q_SIGNALS:
    void embeddingsRequested(const QString &folder, int epoch);
    void cloneRequested(const QString &folder);
    void newRunRequested();
    void saved(const QString &message);
    void saveFailed(const QString &message);

private:
    QWidget *makePage();
    QWidget *makeStrip();
    void closeRun();
    void showData();
    void showFollowing();
    /// What the workspace knows, with the follower's newer record.
    session::RunSummary summary() const;

    session::Workspace *m_workspace;
    RunActions *m_actions;
    std::unique_ptr<session::RunFollower> m_follower;
    QStackedWidget *m_stack;
    RunHeader *m_header;
    KeyFigures *m_figures;
    Strip *m_strip;
    FailureCard *m_failure;
    ChartGrid *m_charts;
    LogPanel *m_log;
    QSlider *m_smoothing;
    QPushButton *m_follow;
    SegmentedControl *m_xMode;
    bool m_errorShown = false;
};

} // namespace parallax::ui
