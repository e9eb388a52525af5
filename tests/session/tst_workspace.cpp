// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/config/builtindata.h"
#include "core/session/runindex.h"
#include "core/session/runname.h"
#include "core/session/settings.h"
#include "core/session/workspace.h"
#include "tests/support/sandbox.h"

#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <unistd.h>

using namespace parallax;
using session::Workspace;

class TestWorkspace : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_box = std::make_unique<testing::Sandbox>(); }
    void cleanup() { m_box.reset(); }

    void readsAnEmptyOrMissingFolder_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("empty") << QStringLiteral("runs");
        QTest::newRow("missing") << QStringLiteral("nowhere");
    }
    void readsAnEmptyOrMissingFolder()
    {
        QFETCH(QString, name);
        Workspace workspace(m_box->path(name));
        QSignalSpy first(&workspace, &Workspace::firstRead), changed(&workspace, &Workspace::changed);
        QTRY_COMPARE(first.count(), 1);
        QVERIFY(workspace.runs().empty());
        QCOMPARE(changed.count(), 0);
    }

    void summarizes()
    {
        const runs::RunFolder folder = m_box->makeFinishedRun(10, "mine");
        const auto summary = session::summarize(folder);
        QCOMPARE(summary.record.name, std::string("mine"));
        QCOMPARE(summary.dataset, QStringLiteral("Fashion-MNIST"));
        QCOMPARE(summary.batchSize, 64);
        QCOMPARE(summary.method, QStringLiteral("simclr"));
        QCOMPARE(summary.step, 10);
        QCOMPARE(summary.epoch, 2.0);
        QCOMPARE(summary.loss, 4.0);
        QCOMPARE(summary.lastKnn, 0.7);
        QCOMPARE(summary.bestKnn, 0.7);
        QVERIFY(std::isnan(summary.untrainedKnn));
        QVERIFY(std::isnan(summary.secondsLeft)); // it has ended
        QCOMPARE(summary.lossLine.size(), std::size_t(10));
        QVERIFY(summary.problem.isEmpty());
        const auto again = session::RunSummary::fromJson(summary.toJson());
        QVERIFY(again.ok());
        QCOMPARE(again->toJson().dump(), summary.toJson().dump());
    }

    /// One name everywhere: the run's own, else one made of its settings, else its folder's.
    void namesRuns()
    {
        QVERIFY(session::loadSchema().ok()); // labels come from the worker's schema
        session::RunSummary run = session::summarize(m_box->makeFinishedRun());
        QCOMPARE(session::runName(run), QStringLiteral("SimCLR · Fashion-MNIST · b64"));
        const auto config = config::readFile(runs::RunFolder(session::toPath(run.folder)).config().string());
        QCOMPARE(session::defaultRunName(config.value()), session::runName(run));
        run.record.name = "mine\x1b[2J";
        QCOMPARE(session::runName(run), QStringLiteral("mine\\x1b[2J"));
        session::RunSummary unreadable;
        unreadable.folder = QStringLiteral("/runs/20260101-simclr-aaaa");
        QCOMPARE(session::runName(unreadable), QStringLiteral("20260101-simclr-aaaa"));
        QCOMPARE(session::defaultRunName(runs::Json()), QString());
    }

    void namesData()
    {
        QCOMPARE(config::dataLabel("fashion-mnist"), std::string("Fashion-MNIST"));
        QCOMPARE(config::dataLabel("/usr/share/datasets/fashion-mnist/"), std::string("Fashion-MNIST"));
        QCOMPARE(config::dataLabel("/home/a/leaf-scans/"), std::string("leaf-scans"));
        QCOMPARE(config::dataLabel("/"), std::string("/"));
        QCOMPARE(config::dataLabel(""), std::string());
    }

    /// The sparkline of a long run is short, and the mean of what it stands for.
    void keepsALongLossLineShort()
    {
        const auto summary = session::summarize(m_box->makeFinishedRun(5'000));
        QVERIFY(summary.lossLine.size() >= 48 && summary.lossLine.size() <= 96);
        QVERIFY(std::is_sorted(summary.lossLine.rbegin(), summary.lossLine.rend()));
        QCOMPARE(summary.step, 5'000);
    }

    /// After a resume the figures are those of the part that counts.
    void forgetsWhatAResumeReplaced()
    {
        const runs::RunFolder folder = m_box->makeFinishedRun(10);
        auto events = runs::EventWriter::open(folder.events(0));
        QVERIFY(events->write("eval", {{"step", 10}, {"epoch", 2.0}, {"knn_top1", 0.9}}).ok());
        QVERIFY(events->write("start", {{"step", 5}, {"epoch", 1.0}, {"resumed", true}}).ok());
        QVERIFY(events->write("metrics", {{"step", 6}, {"epoch", 1.2}, {"loss", 1.5}}).ok());
        QVERIFY(events->write("eval", {{"step", 6}, {"epoch", 1.2}, {"knn_top1", 0.6}}).ok());
        const auto summary = session::summarize(folder);
        QCOMPARE(summary.step, 6);
        QCOMPARE(summary.bestKnn, 0.6);
        QCOMPARE(summary.lossLine.size(), std::size_t(6));
    }

    /// What is no accuracy of the trained network counts neither as the last nor as the best.
    void strayEvaluationsAreNoBest()
    {
        const runs::RunFolder folder = m_box->makeFinishedRun(10);
        auto events = runs::EventWriter::open(folder.events(0));
        QVERIFY(events->write("eval", {{"step", 0}, {"epoch", 0.0}, {"knn_top1", 0.8}}).ok());
        QVERIFY(events->write("eval", {{"step", 1}, {"epoch", 0.0}, {"knn_top1", 0.81}}).ok()); // untrained, after a step
        for (const runs::Json &value :
             std::vector<runs::Json>{"NaN", "Infinity", "-Infinity", 1.5, 69.0, -0.1, nullptr, "0.99"})
            QVERIFY(events->write("eval", {{"step", 10}, {"epoch", 2.0}, {"knn_top1", value}}).ok());
        QVERIFY(events->write("eval", {{"step", 10}, {"epoch", 2.0}, {"probe_top1", 0.9}}).ok());
        const auto summary = session::summarize(folder);
        QCOMPARE(summary.bestKnn, 0.7);
        QCOMPARE(summary.lastKnn, 0.7);
        QCOMPARE(summary.untrainedKnn, 0.81);
    }

    void listsNewestFirstAndFollows()
    {
        std::vector<QString> folders;
        for (int i = 0; i < 3; ++i) folders.push_back(session::toQString(m_box->makeFinishedRun().path()));
        std::sort(folders.rbegin(), folders.rend());
        Workspace workspace(m_box->runs());
        QSignalSpy first(&workspace, &Workspace::firstRead), changed(&workspace, &Workspace::changed);
        QTRY_COMPARE(first.count(), 1);
        QTRY_VERIFY(workspace.runs().size() == 3 && std::isfinite(workspace.runs()[2].lastKnn));
        for (std::size_t i = 0; i < 3; ++i) QCOMPARE(workspace.runs()[i].folder, folders[i]);

        const auto added = session::toQString(m_box->makeFinishedRun(4).path());
        QTRY_VERIFY(workspace.find(added) && workspace.find(added)->step == 4);
        QCOMPARE(workspace.runs().size(), std::size_t(4));

        changed.clear();
        QDir(folders[1]).removeRecursively();
        QTRY_COMPARE(workspace.runs().size(), std::size_t(3));
        QVERIFY(!workspace.find(folders[1]));
        QVERIFY(changed.count() >= 1);
    }

    void followsALiveRunAndMarksADeadOne()
    {
        const runs::RunFolder folder = m_box->makeRun();
        auto record = runs::RunRecord::load(folder).value();
        record.state = runs::State::Running;
        record.host = session::hostName();
        record.pid = session::ownPid();
        record.pidStart = runs::processStart(record.pid).value();
        QVERIFY(record.save(folder).ok());
        auto events = runs::EventWriter::open(folder.events(0));
        QVERIFY(events->write("metrics", {{"step", 1}, {"epoch", 0.1}, {"loss", 3.0}}).ok());
        Workspace workspace(m_box->runs());
        const QString path = session::toQString(folder.path());
        QTRY_VERIFY(workspace.find(path) && workspace.find(path)->step == 1);
        QCOMPARE(toString(workspace.find(path)->record.state), std::string("running"));
        QVERIFY(events->write("metrics", {{"step", 2}, {"epoch", 0.2}, {"loss", 2.0}}).ok());
        QTRY_COMPARE(workspace.find(path)->loss, 2.0);
        record.pidStart = 1; // a process of that number, but another one
        QVERIFY(record.save(folder).ok());
        QTRY_COMPARE(toString(workspace.find(path)->record.state), std::string("interrupted"));
        QCOMPARE(toString(runs::RunRecord::load(folder)->state), std::string("interrupted"));
    }

    void survivesDamagedFolders()
    {
        const runs::RunFolder good = m_box->makeFinishedRun();
        for (const char *text : {"", "{", "[]", "{\"format\": 99}", "{\"format\": 1, \"state\": 3}"})
            QVERIFY(writeFileAtomic(m_box->makeRun().record(), text).ok());
        std::filesystem::remove(m_box->makeRun().record());
        const runs::RunFolder locked = m_box->makeFinishedRun();
        std::filesystem::permissions(locked.path(), std::filesystem::perms::none);
        Workspace workspace(m_box->runs());
        QTRY_VERIFY(workspace.find(session::toQString(good.path())));
        QTRY_VERIFY(std::isfinite(workspace.find(session::toQString(good.path()))->lastKnn));
        const auto broken = std::count_if(workspace.runs().begin(), workspace.runs().end(),
                                          [](const auto &run) { return !run.problem.isEmpty(); });
        QCOMPARE(broken, 6);
        std::filesystem::permissions(locked.path(), std::filesystem::perms::owner_all);
    }

    /// A thousand runs: all there, those in the index without a second look at their events.
    void opensAThousandRuns()
    {
        constexpr std::size_t count = 1'000;
        const runs::RunFolder model = m_box->makeFinishedRun(50);
        for (std::size_t i = 1; i < count; ++i) {
            const auto copy = model.path().parent_path() / ("20200101T000000Z-simclr-x" + std::to_string(i));
            std::filesystem::create_directory(copy);
            for (const auto &file : {model.record(), model.config(), model.events(0)})
                std::filesystem::create_hard_link(file, copy / file.filename());
        }
        const auto index = session::toPath(m_box->runs()) / ".parallax-index";
        {
            Workspace cold(m_box->runs());
            QTRY_VERIFY_WITH_TIMEOUT(cold.runs().size() == count && std::isfinite(cold.runs().back().lastKnn), 20'000);
            QTRY_VERIFY(std::filesystem::exists(index)); // left for the next one
        }
        session::RunIndex warm(session::toPath(m_box->runs()));
        warm.load();
        for (const runs::RunFolder &folder : runs::listRuns(session::toPath(m_box->runs()))) QVERIFY(warm.find(folder));
        Workspace workspace(m_box->runs());
        QSignalSpy first(&workspace, &Workspace::firstRead);
        QTRY_COMPARE(first.count(), 1);
        QVERIFY(std::isfinite(workspace.runs().front().lastKnn)); // with the first list, from the index
        QTRY_COMPARE(workspace.runs().size(), count);
        QVERIFY(std::isfinite(workspace.runs().back().lastKnn));
    }

    /// Unreadable runs cost no second look at their events; once they can be read they are.
    void keepsUnreadableRunsInTheIndex()
    {
        const runs::RunFolder folder = m_box->makeFinishedRun(10);
        const auto runsPath = session::toPath(m_box->runs());
        const auto good = readFile(folder.record(), 1 << 20).value();
        QVERIFY(writeFileAtomic(folder.record(), std::string(good.size(), '[')).ok());
        const auto stamp = std::filesystem::last_write_time(folder.record());
        QVERIFY(!session::summarizeAll(runsPath)[0].problem.isEmpty());
        session::RunIndex index(runsPath);
        index.load();
        QVERIFY(index.find(folder));
        QVERIFY(!index.find(folder)->problem.isEmpty());
        QVERIFY(writeFileAtomic(folder.record(), good).ok()); // the same size, and made to have the same time
        std::filesystem::last_write_time(folder.record(), stamp);
        QVERIFY(!index.find(folder));
        QVERIFY(session::summarizeAll(runsPath)[0].problem.isEmpty());
    }

    void distrustsTheIndex()
    {
        const runs::RunFolder folder = m_box->makeFinishedRun(10);
        const auto runsPath = session::toPath(m_box->runs());
        QCOMPARE(session::summarizeAll(runsPath).size(), std::size_t(1));
        auto events = runs::EventWriter::open(folder.events(0));
        QVERIFY(events->write("eval", {{"step", 10}, {"epoch", 2.0}, {"knn_top1", 0.8}}).ok());
        QCOMPARE(session::summarizeAll(runsPath)[0].lastKnn, 0.8); // its files changed
        const std::string head = "parallax-index 2", name = folder.name();
        std::string stamps = '\n' + name;
        for (const auto &file : {folder.record(), folder.config(), folder.events(0)}) {
            const auto stamp = session::FileStamp::of(file);
            stamps += '\t' + std::to_string(stamp.size) + '\t' + std::to_string(stamp.time);
        }
        for (const std::string &text :
             {std::string("nonsense"), head, head + "\n\n" + name + "\t1\t2", head + stamps + "\tx\t{}",
              head + stamps + "\t{}", head + stamps + '\t' + std::string(100'000, '['),
              head + '\n' + std::string(9, '\0')}) {
            QVERIFY(writeFileAtomic(runsPath / ".parallax-index", text).ok());
            QCOMPARE(session::summarizeAll(runsPath)[0].lastKnn, 0.8);
        }
        std::filesystem::rename(runsPath, session::toPath(m_box->path("moved")));
        const auto moved = session::summarizeAll(session::toPath(m_box->path("moved")));
        QVERIFY(moved[0].folder.startsWith(m_box->path("moved")));
    }

private:
    std::unique_ptr<testing::Sandbox> m_box;
};

QTEST_GUILESS_MAIN(TestWorkspace)
#include "tst_workspace.moc"
