// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "syntheticruns.h"

#include "core/session/qtconvert.h"
#include "core/session/runfollower.h"
#include "core/session/workspace.h"
#include "ui/monitor/chartcatalogue.h"
#include "ui/monitor/chartgrid.h"
#include "ui/monitor/failurecard.h"
#include "ui/monitor/logmodel.h"
#include "ui/monitor/monitorscreen.h"
#include "ui/monitor/pointpopover.h"
#include "ui/monitor/runfigures.h"
#include "ui/monitor/runheader.h"
#include "ui/runs/runactions.h"
#include "ui/widgets/chartcard.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/page.h"

#include <QAbstractItemModelTester>
#include <QLocale>
#include <QMenu>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

using namespace parallax;
using namespace parallax::ui;
using session::RunData;
using test::SyntheticRun;
using test::SyntheticWriter;

namespace {

RunData resumed()
{
    RunData data;
    data.record.created = 1000;
    data.record.world = 2;
    metrics::Series loss;
    for (int step = 0; step <= 150; step += 10) loss.append(step, step / 50.0, 1000 + step, 7 - step * 0.01);
    loss.resumeFrom(100);
    for (int step = 110; step <= 200; step += 10) loss.append(step, step / 50.0, 5000 + step, 6 - step * 0.01);
    data.series["loss"] = loss;
    data.plan = {{"steps_per_epoch", 50}};
    data.marks.push_back({100, 2, 5000, "resume", {}});
    data.marks.push_back({100, 2, 1100, "checkpoint", "step-100"});
    return data;
}

Chart *chartNamed(MonitorScreen &screen, const QString &title)
{
    for (ChartCard *card : screen.charts()->cards())
        if (card->title() == title) return card->chart();
    return nullptr;
}

QPushButton *buttonNamed(QWidget &screen, const char *name) { return screen.findChild<QPushButton *>(QLatin1String(name)); }

} // namespace

class TestMonitor : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("parallax-test-monitor"));
        QLocale::setDefault(QLocale::c());
        Theme::instance().setMode(Theme::Mode::Light, false);
    }

    void aResumedCurveNeverGoesBack_data()
    {
        QTest::addColumn<int>("mode");
        QTest::newRow("step") << int(XMode::Step);
        QTest::newRow("epoch") << int(XMode::Epoch);
        QTest::newRow("relative") << int(XMode::Relative);
        QTest::newRow("wall") << int(XMode::Wall);
    }
    void aResumedCurveNeverGoesBack()
    {
        QFETCH(int, mode);
        const RunData data = resumed();
        const auto line = lineOf(data, "loss", XMode(mode));
        QVERIFY(line);
        QVERIFY(std::is_sorted(line->x.begin(), line->x.end()));
        QCOMPARE(line->x.size(), std::size_t(21)); // 0 to 100 of the first part, 110 to 200 of the second
        const bool stepLike = XMode(mode) == XMode::Step || XMode(mode) == XMode::Epoch;
        QCOMPARE(line->pastX.size(), std::size_t(stepLike ? 5 : 0));
        if (XMode(mode) == XMode::Epoch) QCOMPARE(line->pastX.front(), 110 / 50.0);
        const auto events = eventsOf(data, XMode(mode));
        QCOMPARE(int(std::count_if(events.begin(), events.end(),
                                   [](const ChartEvent &e) { return e.kind == ChartEvent::Kind::Resume; })),
                 1);
    }

    /// Resumed three times, twice from the same checkpoint; and a step that was written twice at the end.
    void attemptsAreNotJoined()
    {
        RunData data;
        metrics::Series loss;
        for (int step = 0; step <= 100; step += 10) loss.append(step, 0, 0, 1);
        loss.resumeFrom(50);
        for (int step = 60; step <= 80; step += 10) loss.append(step, 0, 0, 2);
        loss.resumeFrom(50);
        for (int step = 60; step <= 200; step += 10) loss.append(step, 0, 0, 3);
        loss.resumeFrom(180);
        for (int step = 190; step <= 400; step += 10) loss.append(step, 0, 0, 4);
        loss.append(400, 0, 0, 5);
        data.series["loss"] = loss;
        const auto line = lineOf(data, "loss", XMode::Step);
        QVERIFY(std::is_sorted(line->x.begin(), line->x.end()) && std::is_sorted(line->pastX.begin(), line->pastX.end()));
        std::vector<std::pair<double, double>> joined; // what a line is drawn between
        for (std::size_t i = 1; i < line->pastX.size(); ++i)
            if (std::isfinite(line->pastY[i - 1]) && std::isfinite(line->pastY[i]))
                joined.emplace_back(line->pastX[i - 1], line->pastX[i]);
        QVERIFY((joined == std::vector<std::pair<double, double>>{{60, 70}, {70, 80}, {90, 100}, {190, 200}}));
        QCOMPARE(line->pastY[0], 2.0); // the later attempt of the two
    }

    void aFailureIsMarkedWhereTheRunEnded()
    {
        RunData data = resumed();
        data.record.state = runs::State::Failed;
        runs::Failure failure;
        failure.rank = 1;
        data.record.failure = failure;
        const auto events = eventsOf(data, XMode::Step);
        QCOMPARE(events.back().kind, ChartEvent::Kind::Failure);
        QCOMPARE(events.back().x, 200.0);
        QCOMPARE(events.back().label, QStringLiteral("rank 1 failed"));
    }

    void eventsOfTheTimeAxis()
    {
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()), {.epochs = 3, .doneEpochs = 2});
        writer.log(1, "warning", "slow step");
        const auto events = eventsOf(session::readRun(writer.folder()), XMode::Step);
        const auto at = [&](ChartEvent::Kind kind) {
            std::vector<double> places;
            for (const ChartEvent &event : events)
                if (event.kind == kind) places.push_back(event.x);
            return places;
        };
        QCOMPARE(at(ChartEvent::Kind::Evaluation), std::vector<double>({0, 40, 80})); // 0: the untrained network
        QCOMPARE(at(ChartEvent::Kind::Checkpoint), std::vector<double>({40, 80}));
        QCOMPARE(at(ChartEvent::Kind::Warning), std::vector<double>({80}));
        QVERIFY(at(ChartEvent::Kind::Failure).empty());
    }

    void figuresSayNothingWhereNothingIs()
    {
        const RunData empty;
        const auto figures = keyFigures(empty, {});
        QVERIFY(figures.size() >= 6);
        for (const KeyFigure &figure : figures) QCOMPARE(figure.value, QStringLiteral("–"));
        QVERIFY(!lineOf(empty, "loss", XMode::Step));
        QVERIFY(rankLines(empty, "rss_mb", XMode::Step).empty());
    }

    void figuresOfTwoRanks()
    {
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()), {.epochs = 3, .doneEpochs = 3});
        const RunData data = session::readRun(writer.folder());
        session::RunSummary summary = session::summarize(writer.folder());
        const auto figures = keyFigures(data, summary);
        const auto named = [&](const QString &caption) {
            return *std::find_if(figures.begin(), figures.end(), [&](const KeyFigure &f) { return f.caption == caption; });
        };
        QVERIFY(named("Loss").note.contains("/ epoch"));
        QVERIFY(named("kNN accuracy").note.startsWith("untrained 0.56"));
        QVERIFY(named("Step time").note.startsWith("rank 1, + "));
        QCOMPARE(slowestRank(data), std::optional<int>(1));
        // One slow step makes no slow rank, neither in the figure nor in the chart.
        RunData jump = data;
        jump.series["step_ms/r0"].append(1e6, 4, 1e9, jump.series["step_ms/r1"].last() + 1);
        QCOMPARE(slowestRank(jump), std::optional<int>(1));
        const auto lines = chartContent(QStringLiteral("step_time"), jump, summary, XMode::Step).series;
        QVERIFY(!lines[0].name.contains("slowest") && lines[1].name.contains("slowest"));
        QVERIFY(named("Peak memory").note.contains("rank 1"));
        QVERIFY(!onGpu(data));
        QCOMPARE(int(rankLines(data, "step_ms", XMode::Step).size()), 1 + (data.series.count("step_ms/r0") ? 1 : 0));
        QVERIFY(subtitleOf(data, summary).contains("2 ranks, SyncBatchNorm, gather"));
    }

    void logGrowsWithoutLosingItsPlace()
    {
        LogModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset), inserted(&model, &QAbstractItemModel::rowsInserted);
        auto first = std::make_shared<RunData>();
        first->log = {{1, 0, "info", "a"}, {2, 1, "warning", "b"}};
        model.setLines(first->log);
        QCOMPARE(resets.count(), 1);
        const QPersistentModelIndex kept = model.index(1, 0);
        auto second = std::make_shared<RunData>(*first);
        second->log.push_back({3, 1, "error", "c"});
        model.setLines(second->log);
        QCOMPARE(inserted.count(), 1);
        QCOMPARE(resets.count(), 1);
        QVERIFY(kept.isValid());
        LogFilter filter;
        filter.setSourceModel(&model);
        filter.setLevel(1);
        QCOMPARE(filter.rowCount(), 2);
        filter.setRank(0);
        QCOMPARE(filter.rowCount(), 0);
        filter.setRank(-1);
        filter.setLevel(0);
        filter.setText("C");
        QCOMPARE(filter.rowCount(), 1);
        auto other = std::make_shared<RunData>(); // the oldest lines were dropped
        other->log = {{2, 1, "warning", "b"}, {3, 1, "error", "c"}};
        model.setLines(other->log);
        QCOMPARE(model.rowCount(), 2);
        model.setLines({});
        QCOMPARE(model.rowCount(), 0);
    }

    void logTellsWhatTheEventsSay()
    {
        RunData data = resumed();
        data.log = {{1105, 1, "warning", "slow step"}};
        metrics::Series knn;
        knn.append(0, 0, 1000, 0.56);
        knn.append(50, 1, 1050, 0.6);
        data.series["knn_top1"] = knn;
        QStringList texts;
        for (const session::LogLine &line : logLines(data)) texts << line.text;
        QCOMPARE(texts,
                 QStringList({"untrained   kNN accuracy 0.5600", "epoch 1   kNN accuracy 0.6000",
                              "checkpoint of step 100 written", "slow step", "goes on from step 100"}));
    }

    void popoverOffersWhatIsStored()
    {
        QWidget window;
        window.resize(600, 400);
        window.show();
        PointPopover popover(&window);
        popover.showPoint(44, 0.835, -0.019, true, QPoint(590, 395));
        QVERIFY(window.rect().contains(popover.geometry()));
        QSignalSpy requested(&popover, &PointPopover::openRequested);
        auto *open = popover.findChild<QPushButton *>();
        QVERIFY(open->isVisible());
        QTest::mouseClick(open, Qt::LeftButton);
        QCOMPARE(requested.value(0).value(0).toInt(), 44);
        QVERIFY(!popover.isVisible());
        popover.showPoint(0, 0.77, std::nan(""), false, QPoint(5, 5));
        QVERIFY(!open->isVisible());
        QTest::mouseClick(&window, Qt::LeftButton, {}, QPoint(500, 300));
        QVERIFY(!popover.isVisible());
    }

    void pointsArriveWhileItRuns()
    {
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()),
                               {.state = runs::State::Running, .epochs = 6, .doneEpochs = 1});
        session::Workspace workspace(folder.path());
        RunActions actions;
        MonitorScreen screen(&workspace, &actions);
        screen.resize(1360, 830);
        screen.show();
        QTRY_COMPARE(workspace.runs().size(), std::size_t(1));
        screen.activate(); // opens what is running
        QVERIFY(!screen.run().isEmpty());
        Chart *loss = chartNamed(screen, "Loss");
        QTRY_VERIFY(!loss->series().empty());
        QTRY_COMPARE(loss->series()[0].x.size(), std::size_t(40));
        writer.epoch();
        QTRY_COMPARE(loss->series()[0].x.size(), std::size_t(80));
        QTRY_COMPARE(chartNamed(screen, "kNN accuracy")->series()[0].x.size(), std::size_t(3));
        QCOMPARE(int(chartNamed(screen, "Memory")->series().size()), 2);
        QTRY_VERIFY(screen.findChild<QProgressBar *>()->value() == 333);
        QVERIFY(screen.findChild<KeyFigures *>()->figures()[0].value != "–");
        QVERIFY(buttonNamed(screen, "stop")->isVisible());
        QVERIFY(!buttonNamed(screen, "resume")->isVisible());
        writer.writeRecord(runs::State::Finished);
        QTRY_VERIFY(!buttonNamed(screen, "stop")->isVisible());
    }

    void aFailedRunSaysWhoWhyAndWhatToDo()
    {
        runs::Failure failure;
        failure.rank = 1;
        failure.signal = 9;
        failure.what = "Rank 1 was killed";
        failure.hint = "Use a smaller batch";
        failure.log = {"allocating", "the very last words"};
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()),
                               {.state = runs::State::Failed, .epochs = 6, .doneEpochs = 2, .failure = failure});
        session::Workspace workspace(folder.path());
        RunActions actions;
        MonitorScreen screen(&workspace, &actions);
        screen.resize(1360, 830);
        screen.show();
        screen.openRun(session::toQString(writer.folder().path()));
        auto *card = screen.findChild<FailureCard *>();
        QTRY_VERIFY(card->isVisible());
        QVERIFY(card->findChild<QPlainTextEdit *>()->toPlainText().contains("the very last words"));
        QString said;
        for (const QLabel *label : card->findChildren<QLabel *>()) said += label->text() + '\n';
        QVERIFY2(said.contains("1") && said.contains("SIGKILL"), qPrintable(said));
        QCOMPARE(said.count("Use a smaller batch"), 1); // not in the title as well
        QCOMPARE(said.count("Rank 1 was killed by SIGKILL"), 1);
        QVERIFY2(said.contains("step 80"), qPrintable(said));
        QVERIFY(buttonNamed(screen, "resume")->isVisible());
        QVERIFY(!buttonNamed(screen, "stop")->isVisible());
    }

    /// A power loss, a foreign line: all whole lines are drawn, what was left out is said, and the run can go on.
    void damagedEventsAreCountedAndFollowed_data()
    {
        QTest::addColumn<QByteArray>("damage");
        QTest::addColumn<QString>("said");
        QTest::newRow("half a line") << QByteArray("{\"event\": \"metrics\", \"step\": 41, \"lo") << "1 damaged line ";
        QTest::newRow("zero bytes") << QByteArray(4096, '\0') << "1 damaged line ";
        QTest::newRow("over-long") << "{\"event\": \"metrics\", \"x\": \"" + QByteArray(3 << 20, 'x') + "\"}\n"
                                   << "1 damaged line ";
        QTest::newRow("another run's") << QByteArray("{\"event\": \"start\", \"rank\": 7, \"world\": 9}\n") << QString();
        QTest::newRow("several") << QByteArray("nonsense\n[1, 2]\n\xff\xfe\n") << "3 damaged lines ";
    }
    void damagedEventsAreCountedAndFollowed()
    {
        QFETCH(QByteArray, damage);
        QFETCH(QString, said);
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()), {.state = runs::State::Running, .doneEpochs = 1});
        QFile events(session::toQString(writer.folder().events(0)));
        QVERIFY(events.open(QIODevice::Append));
        events.write(damage);
        events.close();
        session::Workspace workspace(folder.path());
        RunActions actions;
        MonitorScreen screen(&workspace, &actions);
        screen.resize(1360, 830);
        screen.show();
        screen.openRun(session::toQString(writer.folder().path()));
        Chart *loss = chartNamed(screen, QStringLiteral("Loss"));
        const auto points = [&] { return loss->series().empty() ? 0 : int(loss->series().front().x.size()); };
        QTRY_COMPARE(points(), 40);
        // The next launch's writer ends a torn line; good ones are followed live.
        auto more = runs::EventWriter::open(writer.folder().events(0));
        QVERIFY(more.ok());
        for (int step = 41; step <= 45; ++step)
            QVERIFY(more->write("metrics", {{"step", step}, {"epoch", step / 40.0}, {"loss", 2.0}}).ok());
        QTRY_COMPARE(points(), 45);
        const RunData data = session::readRun(writer.folder());
        const auto lines = logLines(data);
        QCOMPARE(lines.front().text.startsWith(said) && lines.front().level == "warning", !said.isEmpty());
    }

    void stopAsksOnceInPlace()
    {
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()), {.state = runs::State::Running, .doneEpochs = 1});
        session::Workspace workspace(folder.path());
        RunActions actions;
        QSignalSpy failed(&actions, &RunActions::failed);
        MonitorScreen screen(&workspace, &actions);
        screen.show();
        screen.openRun(session::toQString(writer.folder().path()));
        QPushButton *stop = buttonNamed(screen, "stop");
        QTRY_VERIFY(stop->isVisible() && screen.findChild<QProgressBar *>()->value() > 0);
        const QString before = stop->text();
        QTest::mouseClick(stop, Qt::LeftButton);
        QVERIFY(stop->text() != before);
        QCOMPARE(failed.count(), 0); // nothing was sent: there is no supervisor that could have answered
        QTest::mouseClick(stop, Qt::LeftButton);
        QVERIFY(failed.wait());
        QCOMPARE(stop->text(), before); // and can be tried again
        QVERIFY(stop->isEnabled());
    }

    void aDeletedRunLeavesThePage()
    {
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()), {});
        session::Workspace workspace(folder.path());
        RunActions actions;
        MonitorScreen screen(&workspace, &actions);
        screen.show();
        screen.openRun(session::toQString(writer.folder().path()));
        QTRY_VERIFY(!chartNamed(screen, "Loss")->series().empty());
        std::filesystem::remove_all(writer.folder().path());
        QTRY_VERIFY(screen.run().isEmpty());
        QVERIFY(chartNamed(screen, "Loss")->series().empty());
    }
};

QTEST_MAIN(TestMonitor)
#include "tst_monitor.moc"
