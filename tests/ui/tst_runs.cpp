// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "syntheticruns.h"

#include "core/session/qtconvert.h"
#include "core/session/workspace.h"
#include "tests/support/fakeschema.h"
#include "ui/runs/changedsettings.h"
#include "ui/runs/runactions.h"
#include "ui/runs/runchoices.h"
#include "ui/runs/rundelegate.h"
#include "ui/runs/runpreview.h"
#include "ui/runs/runsscreen.h"
#include "ui/runs/runtablemodel.h"
#include "ui/widgets/chart.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace parallax;
using namespace parallax::ui;
using session::RunSummary;
using test::SyntheticRun;
using test::SyntheticWriter;

namespace {

RunSummary summary(int number, double knn = RunSummary::unknown)
{
    RunSummary run;
    run.folder = QStringLiteral("/runs/%1").arg(10'000 - number, 5, 10, QLatin1Char('0'));
    run.record.name = "run-" + std::to_string(number);
    run.record.state = runs::State::Finished;
    run.dataset = number % 2 ? "leaf-scans" : "Fashion-MNIST";
    run.method = number % 3 ? "SimCLR" : "BYOL";
    run.backbone = "ResNet-18";
    run.epochs = 10;
    run.epoch = 10;
    run.step = 100;
    run.bestKnn = run.lastKnn = knn;
    run.duration = 60 + number;
    return run;
}

std::vector<RunSummary> several(int count)
{
    std::vector<RunSummary> list;
    for (int i = 0; i < count; ++i) list.push_back(summary(i, 0.5 + 0.01 * i));
    return list;
}

QStringList names(const QAbstractItemModel &model)
{
    QStringList result;
    for (int row = 0; row < model.rowCount(); ++row) result << model.index(row, RunTableModel::Name).data().toString();
    return result;
}

} // namespace

class TestRuns : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        qputenv("XDG_CACHE_HOME", m_cache.path().toUtf8());
        qputenv("PARALLAX_WORKER", PARALLAX_TEST_BIN_DIR "/fakeworker");
        Theme::instance().setMode(Theme::Mode::Light, false);
    }

    void followsAListRowByRow()
    {
        RunTableModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset), inserted(&model, &QAbstractItemModel::rowsInserted),
            removed(&model, &QAbstractItemModel::rowsRemoved), changed(&model, &QAbstractItemModel::dataChanged);
        std::vector<RunSummary> list = several(6);
        model.setRuns(list);
        QCOMPARE(model.rowCount(), 6);
        QCOMPARE(inserted.count(), 1);
        const QPersistentModelIndex kept = model.index(4, 0);
        list.insert(list.begin() + 2, summary(50));
        list.erase(list.begin());
        model.setRuns(list);
        QCOMPARE(names(model), QStringList({"run-1", "run-50", "run-2", "run-3", "run-4", "run-5"}));
        QCOMPARE(kept.row(), 4);
        QCOMPARE(removed.count(), 1);
        changed.clear();
        list[3].lastKnn = 0.9;
        model.setRuns(list);
        QVERIFY(changed.count() >= 1);
        QCOMPARE(model.index(3, RunTableModel::Knn).data().toString(), QStringLiteral("0.9000"));
        model.setRuns({});
        QCOMPARE(model.rowCount(), 0);
        QCOMPARE(resets.count(), 0);
        QVERIFY(!kept.isValid());
    }

    void takesAnotherOrderToo()
    {
        RunTableModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        std::vector<RunSummary> list = several(4);
        model.setRuns(list);
        std::reverse(list.begin(), list.end());
        model.setRuns(list);
        QCOMPARE(names(model), QStringList({"run-3", "run-2", "run-1", "run-0"}));
    }

    void showsNothingAsADash()
    {
        RunTableModel model;
        RunSummary run = summary(1);
        run.step = 0;
        run.epoch = 0;
        model.setRuns({run});
        QCOMPARE(model.index(0, RunTableModel::Knn).data().toString(), QStringLiteral("–"));
        QCOMPARE(model.index(0, RunTableModel::Duration).data().toString(), QStringLiteral("–"));
        QCOMPARE(model.index(0, RunTableModel::Epoch).data().toString(), QStringLiteral("– / 10"));
        run.problem = "run.json: not JSON";
        model.setRuns({run});
        QCOMPARE(model.index(0, RunTableModel::State).data().toString(), QStringLiteral("Unreadable"));
        QCOMPARE(model.index(0, RunTableModel::Name).data(Qt::ToolTipRole).toString(), run.problem);
    }

    void marksTheBestOfEachDataSet()
    {
        RunTableModel model;
        model.setRuns({summary(0, 0.5), summary(1, 0.9), summary(2, 0.7), summary(3)});
        const auto best = [&](int row) {
            return model.index(row, RunTableModel::BestKnn).data(RunTableModel::BestRole).toBool();
        };
        QVERIFY(!best(0));
        QVERIFY(best(2));  // of Fashion-MNIST
        QVERIFY(!best(1)); // alone with a value among leaf-scans: best of what?
        QVERIFY(!best(3));
    }

    void sortsWithMissingValuesLast()
    {
        RunTableModel model;
        RunFilterModel filter;
        QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        filter.setSourceModel(&model);
        model.setRuns({summary(0, 0.6), summary(1), summary(2, 0.8), summary(3, 0.7), summary(4)});
        filter.sort(RunTableModel::BestKnn, Qt::DescendingOrder);
        QCOMPARE(names(filter).mid(0, 3), QStringList({"run-2", "run-3", "run-0"}));
        filter.sort(RunTableModel::BestKnn, Qt::AscendingOrder);
        QCOMPARE(names(filter).mid(0, 3), QStringList({"run-0", "run-3", "run-2"}));
        filter.sort(-1);
        QCOMPARE(names(filter).first(), QStringLiteral("run-0"));
    }

    void filtersByWordsStatesAndMethods()
    {
        RunTableModel model;
        RunFilterModel filter;
        QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        filter.setSourceModel(&model);
        std::vector<RunSummary> list = several(6);
        list[5].record.state = runs::State::Failed;
        model.setRuns(list);
        filter.setText("leaf");
        QCOMPARE(names(filter), QStringList({"run-1", "run-3", "run-5"}));
        filter.setText("LEAF byol");
        QCOMPARE(names(filter), QStringList({"run-3"}));
        filter.setText("run-1 or run-2 or");
        QCOMPARE(names(filter), QStringList({"run-1", "run-2"}));
        filter.setText("");
        QVERIFY(!filter.isFiltering());
        filter.setStates({int(runs::State::Failed)});
        QCOMPARE(names(filter), QStringList({"run-5"}));
        filter.setStates({});
        filter.setMethods({"BYOL"});
        QCOMPARE(names(filter), QStringList({"run-0", "run-3"}));
    }

    void tenThousandRowsAreFine()
    {
        RunTableModel model;
        RunFilterModel filter;
        filter.setSourceModel(&model);
        RunTable table;
        table.setModel(&filter);
        table.setItemDelegate(new RunDelegate(&table));
        table.resize(1200, 600);
        std::vector<RunSummary> list = several(10'000);
        model.setRuns(list);
        table.show();
        table.selectRow(7000);
        const QString selected = filter.index(7000, RunTableModel::Name).data().toString();
        filter.sort(RunTableModel::Duration, Qt::DescendingOrder);
        list.erase(list.begin() + 100, list.begin() + 200);
        list[50].lastKnn = 1;
        model.setRuns(list);
        QCOMPARE(filter.rowCount(), 9'900);
        QCOMPARE(table.selectionModel()->selectedRows().size(), 1);
        QCOMPARE(table.selectionModel()->selectedRows().first().siblingAtColumn(RunTableModel::Name).data().toString(),
                 selected);
        filter.setText("run-7000");
        QCOMPARE(filter.rowCount(), 1);
        QVERIFY(!table.grab().isNull());
    }

    /// Entries that would read the same say when they were started.
    void choicesCanBeToldApart()
    {
        std::vector<RunSummary> list = several(3);
        list[0].record.name = list[1].record.name = "twice & more";
        list[0].record.created = 1.7e9;
        const auto choices = runChoices(list, 3);
        QVERIFY(choices[0].text.startsWith("twice & more   ") && choices[0].text != choices[1].text);
        QCOMPARE(choices[2].text, QStringLiteral("run-2"));
        QCOMPARE(runChoices(list, 2).size(), std::size_t(2));
        QCOMPARE(menuText(QStringLiteral("a & b")), QStringLiteral("a && b"));
    }

    /// One timer for all running runs, only while one of them can be seen.
    void runningIconsTurnWhileSeen()
    {
        RunTableModel model;
        RunTable table;
        table.setModel(&model);
        table.setItemDelegate(new RunDelegate(&table));
        table.resize(900, 400);
        table.show();
        std::vector<RunSummary> list = several(100);
        model.setRuns(list);
        QVERIFY(QTest::qWaitForWindowExposed(&table));
        QVERIFY(!table.isTurning());
        list[2].record.state = runs::State::Running;
        model.setRuns(list);
        QTRY_VERIFY(table.isTurning());
        const auto icon = [&] {
            QRect place = table.visualRect(model.index(2, RunTableModel::State));
            place.setWidth(56); // without the text
            return table.viewport()->grab(place).toImage();
        };
        const QImage before = icon();
        QTRY_VERIFY(icon() != before);
        table.scrollToBottom();
        QTRY_VERIFY(!table.isTurning());
        table.scrollToTop();
        QTRY_VERIFY(table.isTurning());
        list[2].record.state = runs::State::Finished;
        model.setRuns(list);
        QTRY_VERIFY(!table.isTurning());
    }

    void changedSettingsAreNamedAsInTheForm()
    {
        const config::Schema schema = fake::schema();
        config::Json config = schema.complete(config::Json::object());
        QVERIFY(changedSettings(schema, config).empty());
        config::assign(config, "optim.base_lr", 0.5);
        config::assign(config, "train.batch_size", 128);
        config::assign(config, "data.source", "fashion-mnist");
        config::assign(config, "distributed.gather", false);
        config::assign(config, "backbone.name", "resnet50");
        config::assign(config, "method.temperature", 0.1);
        config::assign(config, "train.old_key", "of another version");
        const std::vector<Fact> expected{
            {"Images", "Fashion-MNIST", "data.source"},       {"Method: Temperature", "0.1", "method.temperature"},
            {"Network", "ResNet-50", "backbone.name"},        {"Base learning rate", "0.5", "optim.base_lr"},
            {"Batch size", "128 images", "train.batch_size"}, {"Gather", "off", "distributed.gather"},
            {"train.old_key", "of another version", ""}};
        const std::vector<Fact> changes = changedSettings(schema, config);
        for (const Fact &fact : changes) qInfo() << fact.name << fact.value << fact.hint;
        QVERIFY(changes == expected);
    }

    void commandIsQuotedForAShell()
    {
        runs::RunRecord record;
        record.command = {"parallax", "train", "--set", "data.source=/my images/it's", "--name", ""};
        QCOMPARE(RunActions::commandLine(record),
                 QStringLiteral("parallax train --set 'data.source=/my images/it'\\''s' --name ''"));
    }

    void actionsDependOnTheState()
    {
        RunSummary run = summary(1);
        const auto can = [&](runs::State state) {
            run.record.state = state;
            return std::tuple(RunActions::canPause(run), RunActions::canStop(run), RunActions::canResume(run));
        };
        QCOMPARE(can(runs::State::Running), std::tuple(true, true, false));
        QCOMPARE(can(runs::State::Paused), std::tuple(false, true, true));
        QCOMPARE(can(runs::State::Finished), std::tuple(false, false, false));
        QCOMPARE(can(runs::State::Failed), std::tuple(false, false, true));
        QCOMPARE(can(runs::State::Interrupted), std::tuple(false, false, true));
    }

    void aDeadSupervisorIsSaid()
    {
        RunActions actions;
        QSignalSpy failed(&actions, &RunActions::failed);
        RunSummary run = summary(1);
        run.record.socket = "/nowhere/at/all.sock";
        actions.stop(run);
        QVERIFY(failed.wait());
        QVERIFY(failed[0][0].toString().startsWith("run-1: "));
    }

    void screenShowsOpensAndPreviews()
    {
        QTemporaryDir folder;
        const std::filesystem::path path = session::toPath(folder.path());
        SyntheticWriter first(path, {.folder = "20261130-100000-simclr-aaaa", .name = "older"});
        SyntheticWriter second(path, {.folder = "20261130-110000-simclr-bbbb", .name = "newer", .seed = 2});
        session::Workspace workspace(folder.path());
        RunActions actions;
        RunsScreen screen(&workspace, &actions);
        screen.resize(1400, 700);
        screen.show();
        auto *table = screen.findChild<RunTable *>();
        QTRY_COMPARE(table->model()->rowCount(), 2);
        QCOMPARE(names(*table->model()), QStringList({"newer", "older"}));
        screen.activate();
        QVERIFY(screen.selected());
        QCOMPARE(screen.selected()->record.name, std::string("newer"));
        auto *preview = screen.findChild<RunPreview *>();
        QVERIFY(preview->isVisible());
        QTRY_VERIFY(!preview->findChildren<Chart *>().first()->series().empty());
        // Settings that differ from the defaults stand below the facts.
        const auto grids = preview->findChildren<FactGrid *>();
        QTRY_VERIFY_WITH_TIMEOUT(
            std::any_of(grids.begin(), grids.end(),
                        [](const FactGrid *grid) {
                            return std::any_of(grid->facts().begin(), grid->facts().end(), [](const Fact &fact) {
                                return fact.hint == "train.batch_size" && fact.value == "128 images";
                            });
                        }),
            15'000);
        QSignalSpy opened(&screen, &RunsScreen::monitorRequested);
        QTest::keyClick(table, Qt::Key_Down);
        QTest::keyClick(table, Qt::Key_Return);
        QCOMPARE(opened.count(), 1);
        QVERIFY(opened[0][0].toString().endsWith("aaaa"));
        const QPoint cell = table->visualRect(table->model()->index(0, RunTableModel::Name)).center();
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, cell);
        QTest::mouseDClick(table->viewport(), Qt::LeftButton, {}, cell);
        QCOMPARE(opened.count(), 2);
        QTest::keyClick(table, Qt::Key_Space);
        QVERIFY(!preview->isVisible());
        screen.resize(1000, 600);
        QVERIFY(!preview->isVisible());
    }

    void typingFiltersAndClearBringsAllBack()
    {
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()), {});
        session::Workspace workspace(folder.path());
        RunActions actions;
        RunsScreen screen(&workspace, &actions);
        screen.show();
        auto *table = screen.findChild<RunTable *>();
        QTRY_COMPARE(table->model()->rowCount(), 1);
        auto *search = screen.findChild<SearchField *>();
        QTest::keyClicks(search, "nothing like that");
        QCOMPARE(table->model()->rowCount(), 0);
        QVERIFY(!table->isVisible());
        const auto buttons = screen.findChildren<QPushButton *>();
        const auto clear =
            std::find_if(buttons.begin(), buttons.end(), [](const QPushButton *b) { return b->text() == "Clear filters"; });
        QVERIFY(clear != buttons.end());
        QTest::mouseClick(*clear, Qt::LeftButton);
        QCOMPARE(table->model()->rowCount(), 1);
        QVERIFY(table->isVisible());
    }

    void aDeletedRunGoesTheSelectionStays()
    {
        QTemporaryDir folder;
        const std::filesystem::path path = session::toPath(folder.path());
        SyntheticWriter a(path, {.folder = "20261130-100000-simclr-aaaa", .name = "a"});
        SyntheticWriter b(path, {.folder = "20261130-110000-simclr-bbbb", .name = "b"});
        SyntheticWriter c(path, {.folder = "20261130-120000-simclr-cccc", .name = "c"});
        session::Workspace workspace(folder.path());
        RunActions actions;
        RunsScreen screen(&workspace, &actions);
        screen.show();
        QTRY_COMPARE(screen.findChild<RunTable *>()->model()->rowCount(), 3);
        screen.select(session::toQString(a.folder().path()));
        std::filesystem::remove_all(c.folder().path());
        QTRY_COMPARE(screen.findChild<RunTable *>()->model()->rowCount(), 2);
        QVERIFY(screen.selected());
        QCOMPARE(screen.selected()->record.name, std::string("a"));
    }

private:
    QTemporaryDir m_cache;
};

QTEST_MAIN(TestRuns)
#include "tst_runs.moc"
