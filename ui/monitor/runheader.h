// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/runfollower.h"
#include "core/session/workspace.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QMenu;
class QProgressBar;
class QPushButton;
class QToolButton;

namespace parallax::ui {

class ElidedLabel;
class Pill;
class RunActions;

/// The top of the Monitor: which run, how far, and what can be done with it now.
class RunHeader : public QWidget
{
    Q_OBJECT
public:
    RunHeader(session::Workspace *workspace, RunActions *actions, QWidget *parent = nullptr);
    void show(const session::RunSummary &run, const session::RunData &data);

Q_SIGNALS:
    void runChosen(const QString &folder); ///< another run, from the menu beside the name

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QWidget *makeTitle();
    QWidget *makeProgress();
    void makeButtons();
    void fillRunMenu();
    void fillMoreMenu();
    void showProgress(const session::RunSummary &run, const session::RunData &data);
    void showButtons(const session::RunSummary &run);
    void stopClicked();
    void disarmStop();

    session::Workspace *m_workspace;
    RunActions *m_actions;
    session::RunSummary m_run;
    ElidedLabel *m_name, *m_subtitle;
    Pill *m_state;
    QLabel *m_epoch, *m_steps, *m_left;
    QProgressBar *m_bar;
    QPushButton *m_pause, *m_checkpoint, *m_stop, *m_resume;
    QToolButton *m_more;
    QMenu *m_runMenu, *m_moreMenu;
    QTimer m_stopAsked; ///< a second click on Stop counts while it runs
    bool m_stopping = false;
};

} // namespace parallax::ui
