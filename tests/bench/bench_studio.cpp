// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the studio takes a folder of many runs. Prints one JSON object.
//   bench_studio make FOLDER RUNS      so many runs, hard links of one; `unreadable` as a third word: none can be read
//   bench_studio series FOLDER SERIES  one run with so many series
//   bench_studio open FOLDER           the window on that folder, until all is read
//   bench_studio edit FOLDER           as open; then a hundred runs come and go, one of the others being selected
//   bench_studio monitor FOLDER        as open; then the first run in the Monitor
#include "tests/ui/syntheticruns.h"

#include "core/session/qtconvert.h"
#include "ui/monitor/monitorscreen.h"
#include "ui/runs/rundelegate.h"
#include "ui/runs/runsscreen.h"
#include "ui/shell/mainwindow.h"
#include "ui/widgets/chart.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QStandardPaths>
#include <QTimer>

#include <clocale>
#include <cstdio>
#include <functional>
#include <time.h>

using namespace parallax;
namespace fs = std::filesystem;

namespace {

constexpr int giveUpMs = 120'000;

/// Milliseconds since this process was started; the kernel counts that in hundredths of a second.
double sinceStart()
{
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto ticks = runs::processStart(::getpid()).value_or(0);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6 - double(ticks) * 1e3 / double(::sysconf(_SC_CLK_TCK));
}

double residentMb()
{
    std::ifstream file("/proc/self/statm");
    long all = 0, resident = 0;
    file >> all >> resident;
    return double(resident) * double(::sysconf(_SC_PAGESIZE)) / 1e6;
}

void link(const fs::path &from, const fs::path &to)
{
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::create_hard_links);
}

std::string runName(int number)
{
    char name[64];
    std::snprintf(name, sizeof name, "20260101-%06d-simclr-%06d", number, number);
    return name;
}

void make(const fs::path &folder, int count, bool unreadable)
{
    fs::create_directories(folder);
    test::SyntheticWriter writer(folder, {.folder = runName(0), .doneEpochs = 5});
    if (unreadable) std::ofstream(writer.folder().record()) << "{ not JSON";
    for (int i = 1; i < count; ++i) link(folder / runName(0), folder / runName(i));
}

void makeSeries(const fs::path &folder, int count)
{
    fs::create_directories(folder);
    test::SyntheticWriter writer(folder, {.folder = runName(0), .doneEpochs = 0});
    for (int step = 1; step <= 200; ++step) {
        runs::Json fields;
        for (int i = 0; i < count; ++i) fields["layer_" + std::to_string(i)] = 1.0 / (step + i);
        writer.event(0, "metrics", step, fields);
    }
    writer.writeRecord(runs::State::Finished);
}

bool waitFor(const std::function<bool()> &condition)
{
    QEventLoop loop;
    QTimer look;
    QElapsedTimer timer;
    timer.start();
    QObject::connect(&look, &QTimer::timeout, &loop, [&] {
        if (condition() || timer.elapsed() > giveUpMs) loop.quit();
    });
    look.start(10);
    loop.exec();
    return condition();
}

/// Longest time that the event loop did not come round: what a person feels as a freeze.
class Freezes : public QObject
{
public:
    Freezes()
    {
        connect(&m_beat, &QTimer::timeout, this, [this] {
            m_longest = std::max(m_longest, double(m_since.nsecsElapsed()) / 1e6 - beatMs);
            m_since.start();
        });
        m_since.start();
        m_beat.start(beatMs);
    }
    double longest() const { return m_longest; }

private:
    static constexpr int beatMs = 5;
    QTimer m_beat;
    QElapsedTimer m_since;
    double m_longest = 0;
};

/// When the table was first painted with a row in it, and with all of them.
class Painted : public QObject
{
public:
    Painted(ui::RunTable *table, int all) : m_table(table), m_all(all) { table->viewport()->installEventFilter(this); }
    double first = 0, whole = 0;

protected:
    bool eventFilter(QObject *, QEvent *event) override
    {
        const int rows = m_table->model()->rowCount();
        if (event->type() != QEvent::Paint || rows == 0) return false;
        if (first == 0) first = sinceStart();
        if (whole == 0 && rows >= m_all) whole = sinceStart();
        return false;
    }

private:
    ui::RunTable *m_table;
    int m_all;
};

void edit(ui::MainWindow &window, const fs::path &folder, runs::Json &figures)
{
    auto *table = window.runsScreen()->findChild<ui::RunTable *>();
    const auto rows = [&] { return std::size_t(table->model()->rowCount()); };
    const std::size_t before = rows();
    const std::string chosen = runName(int(before) / 2);
    window.runsScreen()->select(session::toQString(folder / chosen));
    const auto stays = [&] {
        const auto *run = window.runsScreen()->selected();
        return run && session::toPath(run->folder).filename() == chosen;
    };
    QElapsedTimer timer;
    timer.start();
    for (int i = 0; i < 100; ++i) link(folder / runName(1), folder / ("20270101-" + runName(i)));
    const bool added = waitFor([&] { return rows() == before + 100; });
    figures["added_ms"] = timer.restart();
    figures["selection_stays"] = added && stays();
    for (int i = 0; i < 100; ++i) fs::remove_all(folder / ("20270101-" + runName(i)));
    const bool removed = waitFor([&] { return rows() == before; });
    figures["removed_ms"] = timer.elapsed();
    figures["selection_stays"] = figures["selection_stays"].get<bool>() && removed && stays();
}

void monitor(ui::MainWindow &window, runs::Json &figures)
{
    QElapsedTimer timer;
    timer.start();
    window.openMonitor(window.workspace()->runs().front().folder);
    const auto drawn = [&] {
        const auto charts = window.monitorScreen()->findChildren<ui::Chart *>();
        return std::any_of(charts.begin(), charts.end(), [](const ui::Chart *chart) { return !chart->series().empty(); });
    };
    const bool shown = waitFor(drawn);
    figures["monitor_ms"] = shown ? double(timer.elapsed()) : -1;
}

int open(const fs::path &folder, const std::string &mode)
{
    int all = 0;
    for (const auto &entry : fs::directory_iterator(folder)) all += entry.is_directory();
    ui::MainWindow window(session::toQString(folder));
    auto *table = window.runsScreen()->findChild<ui::RunTable *>();
    Painted painted(table, all);
    window.resize(1440, 900);
    window.show();
    QCoreApplication::processEvents();
    const Freezes freezes;
    runs::Json figures{{"runs", all}, {"window_ms", sinceStart()}};
    waitFor([&] { return painted.whole > 0; });
    figures["first_rows_ms"] = painted.first;
    figures["all_rows_ms"] = painted.whole;
    const auto read = [&] {
        const auto &list = window.workspace()->runs();
        return int(list.size()) == all && std::all_of(list.begin(), list.end(), [](const session::RunSummary &run) {
                   return !run.problem.isEmpty() || run.step > 0;
               });
    };
    waitFor(read);
    figures["all_read_ms"] = sinceStart();
    if (mode == "edit") edit(window, folder, figures);
    if (mode == "monitor") monitor(window, figures);
    figures["longest_freeze_ms"] = freezes.longest();
    figures["resident_mb"] = residentMb();
    std::printf("%s\n", figures.dump().c_str());
    return 0;
}

int usage()
{
    std::fputs("bench_studio make FOLDER RUNS [unreadable] | series FOLDER SERIES | open|edit|monitor FOLDER\n", stderr);
    return 2;
}

} // namespace

int main(int argc, char **argv)
{
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() < 2) return usage();
    const fs::path folder = fs::absolute(words[1]);
    if (words[0] == "make" && words.size() >= 3) {
        make(folder, std::atoi(words[2].c_str()), words.size() > 3);
        return 0;
    }
    if (words[0] == "series" && words.size() == 3) {
        makeSeries(folder, std::atoi(words[2].c_str()));
        return 0;
    }
    if (words[0] != "open" && words[0] != "edit" && words[0] != "monitor") return usage();
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QStandardPaths::setTestModeEnabled(true); // nobody's settings
    QApplication app(argc, argv);
    std::setlocale(LC_NUMERIC, "C");
    return open(folder, words[0]);
}
