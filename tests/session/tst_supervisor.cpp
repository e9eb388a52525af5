// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/control.h"
#include "core/session/runfollower.h"
#include "core/session/summary.h"
#include "core/session/supervisor.h"
#include "tests/support/sandbox.h"

#include <QLocalSocket>
#include <QSignalSpy>
#include <QTest>

using namespace parallax;
using session::Supervisor;

/// The supervisor in this process, its ranks fake workers.
class TestSupervisor : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_box = std::make_unique<testing::Sandbox>(); }
    void cleanup()
    {
        QTRY_VERIFY(m_box->processes().empty()); // nothing is ever left
        m_box.reset();
    }

    void finishes()
    {
        Supervisor supervisor(m_box->makeRun(2));
        QCOMPARE(launch(supervisor), session::exitcode::finished);
        const auto record = saved(supervisor);
        QCOMPARE(toString(record.state), std::string("finished"));
        QVERIFY(record.ended >= record.created);
        QVERIFY(record.socket.empty());
        QCOMPARE(record.attempts.size(), std::size_t(1));
        const auto data = session::readRun(supervisor.folder());
        QCOMPARE(data.series.at("loss").size(), std::size_t(30));
        QVERIFY(data.series.contains("rss_mb/r1"));
        QVERIFY(!std::filesystem::exists(supervisor.folder().rendezvous(1)));
        QVERIFY(!std::filesystem::exists(supervisor.folder().reserve()));
    }

    void saysWhichRankDiedOfWhat_data()
    {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<int>("rank");
        QTest::addColumn<int>("signal");
        QTest::addColumn<QString>("summary");
        for (const int signal : {SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
            const QByteArray name = QByteArray("SIG") + sigabbrev_np(signal);
            QTest::newRow(name.constData())
                << QByteArray("r1:kill=") + QByteArray::number(signal) + "@7" << 1 << signal << QString::fromLatin1(name);
        }
        QTest::newRow("first rank") << QByteArray("r0:kill=9@3") << 0 << SIGKILL << QStringLiteral("out of memory?");
        QTest::newRow("error event") << QByteArray("r2:fail@5") << 2 << 0 << QStringLiteral("The script said so");
    }
    void saysWhichRankDiedOfWhat()
    {
        QFETCH(QByteArray, script);
        QFETCH(int, rank);
        QFETCH(int, signal);
        QFETCH(QString, summary);
        m_box->script(script.constData());
        Supervisor supervisor(m_box->makeRun(3));
        Supervisor::Patience patience;
        patience.termMs = 300; // the others wait for the dead one as in a collective: only SIGKILL ends them
        supervisor.setPatience(patience);
        QCOMPARE(launch(supervisor), session::exitcode::failed);
        const auto record = saved(supervisor);
        QCOMPARE(toString(record.state), std::string("failed"));
        QVERIFY(record.failure.has_value());
        QCOMPARE(record.failure->rank, rank);
        QCOMPARE(record.failure->signal, signal);
        QVERIFY2(record.state_reason.find(summary.toStdString()) != std::string::npos, record.state_reason.c_str());
        QVERIFY(!record.failure->hint.empty());
    }

    /// Ranks that hang or do not listen while their sibling is gone.
    void endsSiblingsThatHang()
    {
        m_box->script("r0:hang@6 r2:deaf r1:kill=11@6");
        Supervisor supervisor(m_box->makeRun(3));
        Supervisor::Patience patience;
        patience.termMs = 300;
        supervisor.setPatience(patience);
        QCOMPARE(launch(supervisor), session::exitcode::failed);
        QCOMPARE(saved(supervisor).failure->rank, 1);
        QCOMPARE(saved(supervisor).failure->signal, SIGSEGV);
    }

    void keepsTheLastLogLines()
    {
        m_box->script("r1:stderr=5000@4 r1:fail@5");
        Supervisor supervisor(m_box->makeRun(2));
        QCOMPARE(launch(supervisor), session::exitcode::failed);
        const auto failure = *saved(supervisor).failure;
        QCOMPARE(failure.log.size(), std::size_t(2));
        QVERIFY(failure.log.back().find("The script said so") != std::string::npos);
        QVERIFY(failure.log.front().size() <= 400);
    }

    void stopsAfterACheckpoint()
    {
        Supervisor supervisor(m_box->makeRun(2, 1000));
        QSignalSpy ended(&supervisor, &Supervisor::finished);
        QVERIFY(supervisor.start(false).ok());
        QTRY_VERIFY(session::summarize(supervisor.folder()).step > 3);
        QVERIFY(send(supervisor, "stop").ok());
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(ended[0][0].toInt(), session::exitcode::stopped);
        QCOMPARE(toString(saved(supervisor).state), std::string("interrupted"));
        QCOMPARE(saved(supervisor).state_reason, std::string("stopped by user"));
        const auto checkpoints = supervisor.folder().listCheckpoints();
        QVERIFY(!checkpoints.empty());
        QCOMPARE(checkpoints.back().step, session::summarize(supervisor.folder()).step);
    }

    void killsRanksThatDoNotStop()
    {
        m_box->script("r1:hang@5");
        Supervisor supervisor(m_box->makeRun(2, 1000));
        Supervisor::Patience patience;
        patience.stopMs = 300;
        supervisor.setPatience(patience);
        QSignalSpy ended(&supervisor, &Supervisor::finished);
        QVERIFY(supervisor.start(false).ok());
        QTRY_VERIFY(session::summarize(supervisor.folder()).step >= 5);
        supervisor.stop("stopped by user");
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(toString(saved(supervisor).state), std::string("interrupted"));
        QVERIFY(saved(supervisor).state_reason.find("did not answer") != std::string::npos);
    }

    void killsAtOnce()
    {
        m_box->script("deaf");
        Supervisor supervisor(m_box->makeRun(2, 1000));
        QSignalSpy ended(&supervisor, &Supervisor::finished);
        QVERIFY(supervisor.start(false).ok());
        QTRY_VERIFY(session::summarize(supervisor.folder()).step > 0);
        QVERIFY(send(supervisor, "kill").ok());
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(toString(saved(supervisor).state), std::string("interrupted"));
        QVERIFY(!saved(supervisor).failure);
    }

    void pausesAndGoesOn()
    {
        Supervisor supervisor(m_box->makeRun(2, 1000));
        QSignalSpy ended(&supervisor, &Supervisor::finished);
        QVERIFY(supervisor.start(false).ok());
        QTRY_VERIFY(session::summarize(supervisor.folder()).step > 3);
        QVERIFY(send(supervisor, "pause").ok());
        QCOMPARE(toString(saved(supervisor).state), std::string("paused"));
        QTRY_COMPARE(session::readRun(supervisor.folder()).activity, QStringLiteral("paused"));
        const auto pausedAt = session::summarize(supervisor.folder()).step;
        QVERIFY(send(supervisor, "checkpoint").ok()); // waits for the next step
        QVERIFY(send(supervisor, "resume").ok());
        QCOMPARE(toString(saved(supervisor).state), std::string("running"));
        QTRY_VERIFY(session::summarize(supervisor.folder()).step > pausedAt + 3);
        QVERIFY(send(supervisor, "stop").ok());
        QTRY_COMPARE(ended.count(), 1);
    }

    void refusesUnknownCommandsAndGarbage()
    {
        Supervisor supervisor(m_box->makeRun(1, 1000));
        QSignalSpy ended(&supervisor, &Supervisor::finished);
        QVERIFY(supervisor.start(false).ok());
        QVERIFY(!send(supervisor, "dance").ok());
        QLocalSocket socket;
        socket.connectToServer(session::toQString(supervisor.record().socket));
        QVERIFY(socket.waitForConnected());
        socket.write(QByteArray("\0\xff{{{\n[1]\n{\"command\": 3}\n", 25));
        QByteArray answers;
        connect(&socket, &QLocalSocket::readyRead, this, [&] { answers += socket.readAll(); });
        QTRY_COMPARE(answers.count("\"ok\":false"), 3);
        socket.write(QByteArray(100'000, 'x')); // a line without end
        QTRY_COMPARE(socket.state(), QLocalSocket::UnconnectedState);
        QVERIFY(send(supervisor, "status").ok());
        supervisor.killNow("test");
        QTRY_COMPARE(ended.count(), 1);
    }

    void survivesRanksThatDoNotRead()
    {
        m_box->script("noread rate=500");
        Supervisor supervisor(m_box->makeRun(2, 20));
        QSignalSpy ended(&supervisor, &Supervisor::finished);
        QVERIFY(supervisor.start(false).ok());
        for (int i = 0; i < 20'000; ++i) QVERIFY(supervisor.checkpoint().ok()); // more than a pipe holds: never blocks
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, 20'000);
        QCOMPARE(toString(saved(supervisor).state), std::string("finished"));
    }

    void survivesFloodedLogs()
    {
        m_box->script("stderr=3000000@2 garbage@3");
        Supervisor supervisor(m_box->makeRun(2));
        QCOMPARE(launch(supervisor), session::exitcode::finished);
        QVERIFY(std::filesystem::file_size(supervisor.folder().log(1)) >= 3'000'000);
        QVERIFY(session::readRun(supervisor.folder()).skippedLines >= 2);
    }

    void noticesAHang_data()
    {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<QString>("reason");
        QTest::newRow("stands still") << QByteArray("r1:hang@5") << QStringLiteral("hangs");
        QTest::newRow("never starts") << QByteArray("r1:nostart") << QStringLiteral("rank 1");
        QTest::newRow("SIGSTOP") << QByteArray("r1:stop@5") << QStringLiteral("rank 1 failed: It was stopped (SIGSTOP)");
    }
    void noticesAHang()
    {
        QFETCH(QByteArray, script);
        QFETCH(QString, reason);
        m_box->script(script.constData());
        Supervisor supervisor(m_box->makeRun(2));
        Supervisor::Patience patience;
        patience.silenceS = 0.5;
        patience.termMs = 200;
        supervisor.setPatience(patience);
        QCOMPARE(launch(supervisor), session::exitcode::failed);
        const auto record = saved(supervisor);
        QVERIFY(record.failure->rank >= 0);
        QVERIFY2(record.state_reason.find(reason.toStdString()) != std::string::npos, record.state_reason.c_str());
    }

    void saysThatTheWorkerIsMissing()
    {
        m_box->set("PARALLAX_WORKER", QStringLiteral("/nowhere/worker"));
        Supervisor supervisor(m_box->makeRun(2));
        QCOMPARE(launch(supervisor), session::exitcode::failed);
        QVERIFY(saved(supervisor).state_reason.find("/nowhere/worker") != std::string::npos);
    }

    void failsOnABadExitCode()
    {
        m_box->script("r0:bad_exit=7");
        Supervisor supervisor(m_box->makeRun(1, 1));
        QCOMPARE(launch(supervisor), session::exitcode::failed);
        QCOMPARE(saved(supervisor).failure->exitCode, 7);
    }

    void resumesFromTheNewestCheckpoint()
    {
        m_box->script("r1:kill=9@25");
        const runs::RunFolder folder = m_box->makeRun(2, 4);
        {
            Supervisor supervisor(folder);
            QCOMPARE(launch(supervisor), session::exitcode::failed);
        }
        QCOMPARE(folder.listCheckpoints().back().step, 20);
        m_box->script("");
        Supervisor supervisor(folder);
        QCOMPARE(launch(supervisor, true), session::exitcode::finished);
        const auto record = saved(supervisor);
        QCOMPARE(record.attempts.size(), std::size_t(2));
        QCOMPARE(record.attempts[1].fromStep, 20);
        QVERIFY(!record.failure);
        const auto data = session::readRun(folder);
        const auto &steps = data.series.at("loss").step;
        QCOMPARE(steps.size(), std::size_t(40));
        QVERIFY(std::is_sorted(steps.begin(), steps.end()));
        QVERIFY(!data.series.at("loss").supersededStep.empty());
    }

private:
    int launch(Supervisor &supervisor, bool resume = false)
    {
        QSignalSpy ended(&supervisor, &Supervisor::finished);
        if (const Status started = supervisor.start(resume); !started) {
            qWarning("%s", started.error().message().c_str());
            return -1;
        }
        return ended.wait(30'000) ? ended[0][0].toInt() : -2;
    }

    runs::RunRecord saved(const Supervisor &supervisor) { return runs::RunRecord::load(supervisor.folder()).value(); }

    Status send(const Supervisor &supervisor, const char *command)
    {
        std::optional<Status> answer;
        session::sendCommand(session::toQString(supervisor.record().socket), QString::fromLatin1(command), this,
                             [&](Status status) { answer = std::move(status); });
        if (!QTest::qWaitFor([&] { return answer.has_value(); }, 10'000)) return Error{"no answer", {}, {}};
        return *answer;
    }

    std::unique_ptr<testing::Sandbox> m_box;
};

QTEST_GUILESS_MAIN(TestSupervisor)
#include "tst_supervisor.moc"
