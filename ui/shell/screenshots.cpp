// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/screenshots.h"

#include "core/runs/runfolder.h"
#include "core/session/qtconvert.h"
#include "ui/embeddings/embeddingsscreen.h"
#include "ui/experiment/newrunscreen.h"
#include "ui/experiment/planner.h"
#include "ui/monitor/monitorscreen.h"
#include "ui/runs/runsscreen.h"
#include "ui/shell/mainwindow.h"
#include "ui/widgets/chart.h"
#include "ui/widgets/theme.h"

#include <QDir>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPixmap>
#include <QTimer>

#include <algorithm>
#include <functional>
#include <vector>

namespace parallax::ui {

using session::RunSummary;
using session::toQString;

namespace {

constexpr int mostMs = 20'000; ///< for one screen's content
constexpr int settleMs = 700;  ///< for queued redraws and what nothing announces

void spin(int ms)
{
    QEventLoop loop;
    QTimer::singleShot(ms, &loop, &QEventLoop::quit);
    loop.exec();
}

void waitFor(const std::function<bool()> &ready)
{
    QElapsedTimer clock;
    clock.start();
    while (!ready() && clock.elapsed() < mostMs) spin(20);
    spin(settleMs);
}

struct Shot {
    QString name;
    std::function<void()> open;
    std::function<bool()> ready;
};

const RunSummary *firstWith(const MainWindow *window, runs::State state)
{
    const auto &all = window->workspace()->runs();
    const auto found =
        std::find_if(all.begin(), all.end(), [state](const RunSummary &run) { return run.record.state == state; });
    return found == all.end() ? nullptr : &*found;
}

Shot monitorShot(MainWindow *window, const QString &name, const QString &folder)
{
    return {name, [window, folder] { window->openMonitor(folder); },
            [window] {
                const auto charts = window->monitorScreen()->findChildren<Chart *>();
                return std::any_of(charts.begin(), charts.end(),
                                   [](const Chart *chart) { return !chart->series().empty(); });
            }};
}

std::vector<Shot> shotsOf(MainWindow *window)
{
    std::vector<Shot> shots;
    const auto always = [] { return true; };
    const auto &all = window->workspace()->runs();
    shots.push_back(
        {all.empty() ? QStringLiteral("first-run") : QStringLiteral("runs"), [window] { window->go(MainWindow::Runs); },
         [window] {
             const auto charts = window->runsScreen()->findChildren<Chart *>();
             // The preview is folded away in narrow windows.
             return window->workspace()->runs().empty() || std::any_of(charts.begin(), charts.end(), [](const Chart *chart) {
                        return !chart->isVisible() || !chart->series().empty();
                    });
         }});
    shots.push_back({QStringLiteral("new-run"), [window] { window->openPreset(QStringLiteral("demo")); },
                     [window] {
                         const experiment::NewRunScreen *screen = window->newRunScreen();
                         return screen->isReady() && screen->planner()->plan() && !screen->planner()->isChecking() &&
                             !screen->planner()->isPreviewing();
                     }});
    const RunSummary *running = firstWith(window, runs::State::Running);
    if (!running) running = firstWith(window, runs::State::Finished);
    if (running) shots.push_back(monitorShot(window, QStringLiteral("monitor"), running->folder));
    if (const RunSummary *failed = firstWith(window, runs::State::Failed))
        shots.push_back(monitorShot(window, QStringLiteral("failed"), failed->folder));
    const auto stored = std::find_if(all.begin(), all.end(), [](const RunSummary &run) {
        return !runs::RunFolder(session::toPath(run.folder)).listEmbeddings().empty();
    });
    if (stored != all.end())
        shots.push_back({QStringLiteral("embeddings"), [window, folder = stored->folder] { window->openEmbeddings(folder); },
                         [window] { return window->embeddingsScreen()->data() != nullptr; }});
    else
        shots.push_back({QStringLiteral("embeddings"), [window] { window->go(MainWindow::Embeddings); }, always});
    return shots;
}

} // namespace

Status takeScreenshots(MainWindow *window, const QString &folder, int width, int height)
{
    if (!QDir().mkpath(folder))
        return Error{"The folder cannot be made", folder.toStdString(), "Choose another one for --screenshots"};
    bool read = false;
    QObject::connect(window->workspace(), &session::Workspace::firstRead, window, [&read] { read = true; });
    window->setFixedSize(width, height);
    window->show();
    waitFor([&] { return read || !window->workspace()->runs().empty(); });
    for (const auto mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
        Theme::instance().setMode(mode, false);
        for (const Shot &shot : shotsOf(window)) {
            shot.open();
            waitFor(shot.ready);
            const QString file =
                QStringLiteral("%1/%2-%3.png")
                    .arg(folder, shot.name, mode == Theme::Mode::Light ? QStringLiteral("light") : QStringLiteral("dark"));
            if (!window->grab().save(file))
                return Error{"The picture cannot be written", file.toStdString(), "Is the disk full?"};
        }
    }
    return {};
}

} // namespace parallax::ui
