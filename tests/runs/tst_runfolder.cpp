// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/atomicfile.h"
#include "core/runs/runrecord.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace parallax;
using runs::RunFolder;
using runs::RunRecord;
using runs::State;
namespace fs = std::filesystem;

class RunFolders : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    fs::path m_runs;

    RunFolder make(const std::string &folder, const std::string &name = {})
    {
        const RunFolder run(m_runs / folder);
        fs::create_directories(run.checkpoints());
        fs::create_directories(run.embeddings());
        RunRecord record;
        record.name = name;
        record.state = State::Finished;
        if (!record.save(run)) qFatal("cannot write a record");
        return run;
    }
    static std::string thisHost()
    {
        char name[256] = {};
        return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
    }

private Q_SLOTS:
    void init()
    {
        m_runs = m_dir.filePath("runs").toStdString();
        fs::remove_all(m_runs);
        fs::create_directory(m_runs);
    }

    void newFoldersAreNamedByTimeMethodAndId()
    {
        const auto first = RunFolder::create(m_runs / "deep" / "er", "barlow-twins"),
                   second = RunFolder::create(m_runs / "deep" / "er", "simclr");
        QVERIFY(first && second);
        static const QRegularExpression form("^\\d{8}T\\d{6}Z-barlow_twins-[a-z2-7]{6}$");
        QVERIFY2(form.match(QString::fromStdString(first->name())).hasMatch(), first->name().c_str());
        QCOMPARE(first->id().size(), std::size_t(6));
        QVERIFY(first->id() != second->id());
        QVERIFY(fs::is_directory(first->checkpoints()) && fs::is_directory(first->embeddings()));
    }

    void aPlaceThatCannotTakeRunsIsNamed()
    {
        QVERIFY(writeFileAtomic(m_runs / "file", "x"));
        const auto folder = RunFolder::create(m_runs / "file", "simclr");
        QVERIFY(!folder);
        QVERIFY2(folder.error().message().find((m_runs / "file").string()) != std::string::npos,
                 folder.error().message().c_str());
        QVERIFY(!RunFolder::create("/proc/none", "simclr"));
    }

    void runsAreFoundByAnyOfTheirNames()
    {
        make("20260101T000000Z-simclr-aaaaaa", "baseline");
        make("20260102T000000Z-simclr-aabbbb", "base");
        const RunFolder newest = make("20260103T000000Z-byol-cccccc", "aaaaaa");
        const auto found = [&](const std::string &word) {
            const auto run = RunFolder::find(m_runs, word);
            return run ? run->id() : run.error().message();
        };
        QCOMPARE(found("last"), std::string("cccccc"));
        QCOMPARE(found("cccccc"), std::string("cccccc"));
        QCOMPARE(found("20260102T000000Z-simclr-aabbbb"), std::string("aabbbb"));
        QCOMPARE(found("20260102"), std::string("aabbbb"));
        QCOMPARE(found("aab"), std::string("aabbbb"));
        QCOMPARE(found("aaaaaa"), std::string("aaaaaa")); // the id comes before another run's own name
        QCOMPARE(found("base"), std::string("aabbbb"));   // a whole name before the start of another
        QCOMPARE(found("basel"), std::string("aaaaaa"));
        QCOMPARE(found(newest.path().string() + "/"), std::string("cccccc"));
        QVERIFY2(found("2026").find("stands for 3 runs") != std::string::npos, found("2026").c_str());
        QVERIFY2(found("zzz").find("20260103T000000Z-byol-cccccc") != std::string::npos, found("zzz").c_str());
        QVERIFY(found("").find("holds no run") != std::string::npos);
        QVERIFY(!RunFolder::find(m_runs / "none", "last"));
    }

    void otherFoldersAreNoRuns()
    {
        make("20260101T000000Z-simclr-aaaaaa");
        make("20260102T000000Z-simclr-bbbbbb");
        fs::create_directory(m_runs / "notes");
        QVERIFY(writeFileAtomic(m_runs / "20260103T000000Z-simclr-dddddd", "a file"));
        const auto all = runs::listRuns(m_runs);
        QCOMPARE(all.size(), std::size_t(2));
        QCOMPARE(all[0].id(), std::string("bbbbbb"));
        QVERIFY(runs::listRuns(m_runs / "none").empty());
    }

    void onlyWholeCheckpointsCount()
    {
        const RunFolder run = make("20260101T000000Z-simclr-aaaaaa");
        const auto touch = [](const fs::path &path) { QVERIFY(writeFileAtomic(path, "{}")); };
        for (const std::int64_t step : {100, 20, 3}) {
            touch(run.checkpoint(step).tensors);
            touch(run.checkpoint(step).state);
        }
        touch(run.checkpoint(7).tensors);
        touch(run.checkpoint(8).state);
        for (const char *name : {"step-.json", "step-x.json", "step-020.json", "step--5.json", ".step-3.json.1.tmp"})
            touch(run.checkpoints() / name);
        std::vector<std::int64_t> steps;
        for (const auto &checkpoint : run.listCheckpoints()) steps.push_back(checkpoint.step);
        QCOMPARE(steps, (std::vector<std::int64_t>{3, 20, 100}));

        for (const char *name : {"epoch-10", "epoch-2", "epoch-3.part", "epoch-4"})
            fs::create_directory(run.embeddings() / name);
        for (const char *name : {"epoch-10", "epoch-2", "epoch-3.part"}) touch(run.embeddings() / name / "meta.json");
        QCOMPARE(run.listEmbeddings(), (std::vector<int>{2, 10}));
    }

    void recordsReadBackUnchanged()
    {
        RunRecord record;
        record.id = "abcdef";
        record.name = "Grün";
        record.state = State::Failed;
        record.failure =
            runs::Failure{1, SIGKILL, 0, "out of memory", "rank 1", "Use a smaller batch", {"line 1", "line 2"}};
        record.created = 1.5e9;
        record.world = 2;
        record.devices = {"cpu", "cuda:0"};
        record.command = {"parallax", "train"};
        record.versions = {{"torch", "2.15.0"}, {"torch_cuda", false}};
        record.color = 7;
        record.attempts = {{1.5e9, 0}, {1.6e9, 120}};
        const RunFolder run = make("20260101T000000Z-simclr-aaaaaa");
        QVERIFY(record.save(run));
        const auto back = RunRecord::load(run);
        QVERIFY2(back, back ? "" : back.error().message().c_str());
        QCOMPARE(back->toJson().dump(), record.toJson().dump());
        QCOMPARE(back->failure->summary(),
                 std::string("rank 1 was killed by SIGKILL (out of memory?): rank 1: out of memory. Use a smaller batch"));
        QVERIFY(back->git.is_null());
    }

    void brokenRecordsAreErrors_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("says");
        QTest::newRow("newer") << QByteArray(R"({"format": 99, "state": "running", "new": 1})")
                               << "newer Parallax (format 99";
        QTest::newRow("no format") << QByteArray(R"({"state": "running"})") << "format";
        QTest::newRow("state") << QByteArray(R"({"format": 1, "state": "asleep"})") << "asleep";
        QTest::newRow("type") << QByteArray(R"({"format": 1, "state": "running", "pid": "x"})") << "pid";
        QTest::newRow("list's entry") << QByteArray(R"({"format": 1, "state": "running", "devices": [1]})") << "devices";
        QTest::newRow("failure") << QByteArray(R"({"format": 1, "state": "failed", "failure": {"rank": "x"}})") << "failure";
        QTest::newRow("too wide") << QByteArray(R"({"format": 1, "state": "running", "world": 99999999999})") << "world";
        QTest::newRow("cut") << QByteArray("{\"format\": 1, \"sta") << "run.json:1:";
        QTest::newRow("list") << QByteArray("[]") << "no object";
    }
    void brokenRecordsAreErrors()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, says);
        const RunFolder run = make("20260101T000000Z-simclr-aaaaaa");
        QVERIFY(writeFileAtomic(run.record(), text.toStdString()));
        const auto record = RunRecord::load(run);
        QVERIFY(!record);
        const QString message = QString::fromStdString(record.error().message());
        QVERIFY2(message.contains(says) && message.contains("run.json"), qPrintable(message));
    }

    void processesAreKnownByTheirStart()
    {
        const auto own = runs::processStart(::getpid());
        QVERIFY(own && *own > 0);
        QVERIFY(!runs::processStart(0));
        QVERIFY(!runs::processStart(-1));
        const pid_t child = ::fork();
        if (child == 0) ::_exit(0);
        siginfo_t info{};
        QCOMPARE(::waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT), 0); // ended, not yet reaped: a zombie
        QVERIFY(!runs::processStart(child));
        QCOMPARE(::waitpid(child, nullptr, 0), child);
        QVERIFY(!runs::processStart(child));
    }

    void runsOfDeadSupervisorsAreInterrupted()
    {
        const RunFolder run = make("20260101T000000Z-simclr-aaaaaa");
        RunRecord record;
        record.host = thisHost();
        record.pid = ::getpid();
        record.pidStart = *runs::processStart(::getpid());
        QVERIFY(record.save(run));
        QVERIFY(!runs::markIfDead(run, record)); // alive
        record.pidStart += 1;                    // the number was given to another process
        QVERIFY(record.save(run));

        RunRecord elsewhere = record;
        elsewhere.host = "another-machine";
        QVERIFY(!runs::markIfDead(run, elsewhere));

        // What the supervisor wrote last counts, even if the record in hand is older.
        RunRecord finished = record;
        finished.state = State::Finished;
        QVERIFY(finished.save(run));
        RunRecord stale = record;
        QVERIFY(!runs::markIfDead(run, stale));
        QVERIFY(stale.state == State::Finished);

        QVERIFY(record.save(run));
        QVERIFY(runs::markIfDead(run, record));
        QVERIFY(record.state == State::Interrupted && record.ended > 0 && !record.state_reason.empty());
        QVERIFY(RunRecord::load(run)->state == State::Interrupted);
        QVERIFY(!runs::markIfDead(run, record)); // once
    }

    void statesHaveNames()
    {
        for (const State state :
             {State::Queued, State::Running, State::Paused, State::Finished, State::Failed, State::Interrupted})
            QVERIFY(runs::stateFromString(runs::toString(state)) == state);
        QVERIFY(!runs::stateFromString("Running"));
    }
};

QTEST_GUILESS_MAIN(RunFolders)
#include "tst_runfolder.moc"
