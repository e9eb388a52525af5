// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The part of MainWindow behind its menus: every entry does what it says, or is off while it cannot.
#include "core/session/job.h"
#include "core/session/qtconvert.h"
#include "ui/monitor/monitorscreen.h"
#include "ui/runs/runactions.h"
#include "ui/runs/runsscreen.h"
#include "ui/shell/mainwindow.h"
#include "ui/shell/toast.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/icons.h"

#include <QActionGroup>
#include <QDialog>
#include <QGridLayout>
#include <QLabel>
#include <QMenuBar>
#include <QPushButton>

#include <algorithm>

namespace parallax::ui {

using session::RunSummary;
using session::toQString;

namespace {

/// A dialog with rows of two or three texts; deletes itself.
QDialog *tableDialog(QWidget *parent, const QString &title, const std::vector<QStringList> &rows)
{
    auto *dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    auto *column = new QVBoxLayout(dialog);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(16);
    column->addWidget(makeLabel(title, TextRole::PageTitle));
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(24);
    grid->setVerticalSpacing(8);
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (int i = 0; i < rows[row].size(); ++i) {
            auto *label = makeLabel(rows[row][i], TextRole::Body, i == 0 ? "" : "secondary");
            label->setTextInteractionFlags(Qt::TextSelectableByMouse);
            if (i > 0) label->setWordWrap(true);
            if (i > 0) label->setMinimumWidth(Theme::instance().scaled(i + 1 == rows[row].size() ? 320 : 60));
            grid->addWidget(label, int(row), i, Qt::AlignTop);
        }
    column->addLayout(grid);
    return dialog;
}

} // namespace

void MainWindow::makeMenus(QMenuBar *bar)
{
    QMenu *file = bar->addMenu(tr("File"));
    const auto add = [this](QMenu *menu, const QString &text, const QKeySequence &keys, auto slot) {
        QAction *action = menu->addAction(text);
        action->setShortcut(keys);
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    add(file, tr("New run"), QKeySequence(QStringLiteral("Ctrl+N")), [this] { go(NewRun); });
    add(file, tr("New run from the demo"), {}, [this] { openPreset(QStringLiteral("demo")); });
    file->addSeparator();
    add(file, tr("Choose the folder of runs…"), QKeySequence::Open, &MainWindow::chooseRunsFolder);
    file->addSeparator();
    add(file, tr("Quit"), QKeySequence(QStringLiteral("Ctrl+Q")), [this] { close(); });
    QMenu *edit = bar->addMenu(tr("Edit"));
    QAction *copy = add(edit, tr("Copy the run's command"), QKeySequence(QStringLiteral("Ctrl+Shift+C")), [this] {
        if (const RunSummary *run = commandRun()) m_actions->copyCommand(*run);
    });
    QAction *clone = add(edit, tr("Clone as new run"), QKeySequence(QStringLiteral("Ctrl+D")), [this] {
        if (const RunSummary *run = commandRun()) cloneRun(run->folder);
    });
    connect(edit, &QMenu::aboutToShow, this, [this, copy, clone] {
        copy->setEnabled(commandRun() != nullptr);
        clone->setEnabled(commandRun() != nullptr);
    });
    // A menu that is closed has no say over its shortcuts.
    connect(edit, &QMenu::aboutToHide, this, [copy, clone] {
        copy->setEnabled(true);
        clone->setEnabled(true);
    });
    makeRunMenu(bar->addMenu(tr("Run")));
    makeViewMenu(bar->addMenu(tr("View")));
    QMenu *tools = bar->addMenu(tr("Tools"));
    add(tools, tr("Read the folder again"), QKeySequence(QStringLiteral("F5")), [this] { m_workspace->refresh(); });
    add(tools, tr("Check this machine…"), {}, &MainWindow::checkMachine);
    QMenu *help = bar->addMenu(tr("Help"));
    add(help, tr("Keyboard shortcuts"), QKeySequence(QStringLiteral("F1")), &MainWindow::showShortcuts);
    add(help, tr("About Parallax"), {}, &MainWindow::showAbout);
}

void MainWindow::makeRunMenu(QMenu *menu)
{
    struct Entry {
        QString text, keys;
        bool (*possible)(const RunSummary &);
        void (RunActions::*act)(const RunSummary &);
    };
    const Entry entries[] = {{tr("Pause"), {}, &RunActions::canPause, &RunActions::pause},
                             {tr("Resume"), {}, &RunActions::canResume, &RunActions::resume},
                             {tr("Write a checkpoint"), {}, &RunActions::canPause, &RunActions::checkpoint},
                             {tr("Show folder"), {}, [](const RunSummary &) { return true; }, &RunActions::reveal}};
    for (const Entry &entry : entries) {
        QAction *action = menu->addAction(entry.text);
        connect(action, &QAction::triggered, this, [this, act = entry.act] {
            if (const RunSummary *run = commandRun()) (m_actions->*act)(*run);
        });
        connect(menu, &QMenu::aboutToShow, action, [this, action, possible = entry.possible] {
            const RunSummary *run = commandRun();
            action->setEnabled(run && possible(*run));
        });
    }
    menu->addSeparator();
    // Stop asks in place, on the Monitor's own button: the first stroke shows it there, the second confirms.
    QAction *stop = menu->addAction(icon(QStringLiteral("stop"), Token::Error), tr("Stop…"));
    stop->setShortcut(QKeySequence(QStringLiteral("Ctrl+.")));
    connect(stop, &QAction::triggered, this, [this] {
        const auto &runs = m_workspace->runs();
        const RunSummary *run = commandRun();
        if (!run || !RunActions::canStop(*run)) {
            const auto active = std::find_if(runs.begin(), runs.end(), &RunActions::canStop);
            if (active == runs.end()) {
                m_toast->tell(tr("No run is training"));
                return;
            }
            run = &*active;
        }
        openMonitor(run->folder);
        if (auto *button = m_monitor->findChild<QPushButton *>(QStringLiteral("stop"))) button->click();
    });
}

void MainWindow::makeViewMenu(QMenu *menu)
{
    const QString names[] = {tr("Runs"), tr("New run"), tr("Monitor"), tr("Embeddings")};
    for (int place = 0; place < PlaceCount; ++place) {
        QAction *action = menu->addAction(names[place]);
        action->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(place + 1)));
        connect(action, &QAction::triggered, this, [this, place] { go(Place(place)); });
    }
    menu->addSeparator();
    QMenu *look = menu->addMenu(tr("Theme"));
    auto *group = new QActionGroup(look);
    const std::pair<QString, Theme::Mode> modes[] = {
        {tr("As the system"), Theme::Mode::System}, {tr("Light"), Theme::Mode::Light}, {tr("Dark"), Theme::Mode::Dark}};
    for (const auto &[text, mode] : modes) {
        QAction *action = look->addAction(text);
        action->setCheckable(true);
        action->setChecked(Theme::instance().mode() == mode);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [mode = mode] { Theme::instance().setMode(mode); });
    }
    menu->addSeparator();
    QAction *full = menu->addAction(tr("Full screen"));
    full->setShortcut(QKeySequence(QStringLiteral("F11")));
    full->setCheckable(true);
    connect(full, &QAction::toggled, this, [this](bool on) { on ? showFullScreen() : showNormal(); });
}

void MainWindow::checkMachine()
{
    auto *job = new session::Job(session::Job::Program::Cli, {QStringLiteral("doctor"), QStringLiteral("--json")}, this);
    m_toast->tell(tr("Checking…"));
    connect(job, &session::Job::failed, this, [this, job](const Error &error) {
        job->deleteLater();
        m_toast->warn(toQString(error.message()));
    });
    connect(job, &session::Job::succeeded, this, [this, job](const nlohmann::ordered_json &answer) {
        job->deleteLater();
        m_toast->hide();
        std::vector<QStringList> rows;
        const auto checks = answer.is_object() ? answer.find("checks") : answer.end();
        if (!answer.is_object() || checks == answer.end() || !checks->is_array()) return;
        for (const auto &check : *checks) {
            if (!check.is_object()) continue;
            const auto text = [&](const char *key) { return toQString(check.value(key, std::string())); };
            rows.push_back({text("name"), text("state"), (text("text") + QLatin1Char('\n') + text("hint")).trimmed()});
        }
        tableDialog(this, tr("This machine"), rows)->show();
    });
}

void MainWindow::showShortcuts()
{
    tableDialog(this, tr("Keyboard shortcuts"),
                {{QStringLiteral("Ctrl+1 … 4"), tr("Runs, New run, Monitor, Embeddings")},
                 {QStringLiteral("Ctrl+N"), tr("New run")},
                 {QStringLiteral("Ctrl+."), tr("Stop the run; once more to confirm")},
                 {QStringLiteral("Ctrl+F"), tr("Filter the runs")},
                 {QStringLiteral("Ctrl+D"), tr("Clone the run's settings")},
                 {QStringLiteral("Ctrl+Shift+C"), tr("Copy the run's command")},
                 {tr("Space"), tr("Show or hide the preview of a run")},
                 {tr("Wheel, drag, double-click"), tr("Zoom, move and fit the charts")},
                 {QStringLiteral("F5"), tr("Read the folder of runs again")},
                 {QStringLiteral("F11"), tr("Full screen")},
                 {QStringLiteral("Ctrl+Q"), tr("Quit; training goes on")}})
        ->show();
}

void MainWindow::showAbout()
{
    tableDialog(this, tr("Parallax"),
                {{tr("What it is"), tr("A desktop laboratory for self-supervised learning on images")},
                 {tr("Version"), QCoreApplication::applicationVersion()},
                 {QStringLiteral("Qt"), QString::fromLatin1(qVersion())},
                 {tr("Licences"), tr("Studio: GPL 3 or later. Engine and command line: Apache 2.0")}})
        ->show();
}

} // namespace parallax::ui
