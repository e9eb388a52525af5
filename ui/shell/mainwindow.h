// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/workspace.h"

#include <QMainWindow>

#include <memory>

class QLabel;
class QPushButton;
class QStackedWidget;

namespace parallax::embeddings {
class EmbeddingsScreen;
}
namespace parallax::experiment {
class NewRunScreen;
}

namespace parallax::ui {

class FirstRunPage;
class MonitorScreen;
class RailBar;
class RunActions;
class RunsScreen;
class Screen;
class StatusStrip;
class Toast;

/// The window: top bar, rail of screens, status line. Composition and navigation; what is shown lives in the screens.
class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    enum Place { Runs, NewRun, Monitor, Embeddings, PlaceCount };

    explicit MainWindow(const QString &runsFolder);
    ~MainWindow() override;

    session::Workspace *workspace() const { return m_workspace.get(); }
    RunsScreen *runsScreen() const { return m_runs; }
    MonitorScreen *monitorScreen() const { return m_monitor; }
    experiment::NewRunScreen *newRunScreen() const { return m_newRun; }
    embeddings::EmbeddingsScreen *embeddingsScreen() const { return m_embeddings; }
    FirstRunPage *firstRunPage() const { return m_firstRun; }
    Toast *toast() const { return m_toast; }
    Place place() const { return m_place; }

public Q_SLOTS:
    void go(parallax::ui::MainWindow::Place place);
    void openMonitor(const QString &runFolder);
    void openEmbeddings(const QString &runFolder, int epoch = -1);
    void openPreset(const QString &name);
    void cloneRun(const QString &runFolder);
    /// Another folder of runs, in place of this one.
    void setRunsFolder(const QString &folder);

protected:
    void closeEvent(QCloseEvent *event) override;

private:
    QWidget *makeTopBar();
    void makeMenus(class QMenuBar *bar);
    void makeRunMenu(class QMenu *menu);
    void makeViewMenu(class QMenu *menu);
    void makeScreens();
    void connectScreens();
    void runsChanged();
    void chooseRunsFolder();
    void checkMachine();
    void showShortcuts();
    void showAbout();
    void restoreWindow();
    /// The run that menu commands mean: the Monitor's, else the selected one; null: none.
    const session::RunSummary *commandRun() const;

    std::unique_ptr<session::Workspace> m_workspace;
    RunActions *m_actions;
    RailBar *m_rail = nullptr;
    QStackedWidget *m_stack = nullptr;
    StatusStrip *m_status = nullptr;
    QPushButton *m_folderButton = nullptr;
    FirstRunPage *m_firstRun = nullptr;
    RunsScreen *m_runs = nullptr;
    experiment::NewRunScreen *m_newRun = nullptr;
    MonitorScreen *m_monitor = nullptr;
    embeddings::EmbeddingsScreen *m_embeddings = nullptr;
    Toast *m_toast;
    Place m_place = Runs;
    bool m_read = false; ///< the folder has been read once: only then is it known to be empty
};

} // namespace parallax::ui
