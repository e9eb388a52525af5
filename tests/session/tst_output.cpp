// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/arguments.h"
#include "core/cli/output.h"
#include "core/cli/progress.h"
#include "core/session/postmortem.h"
#include "tests/support/sandbox.h"

#include <QTest>

#include <csignal>
#include <fstream>

using namespace parallax;

namespace {

cli::Command command()
{
    cli::Command command;
    command.name = "do";
    command.operands = "RUN [PATH]";
    command.options = {{"set", "KEY=VALUE", ""}, {"now", "", ""}};
    return command;
}

} // namespace

/// Parsing and wording without processes.
class TestOutput : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void parsesArguments()
    {
        const auto parsed =
            cli::Arguments::parse(command(), {"run", "--set", "a.b=-1", "--now", "--set=c.d==x", "--", "--path"});
        QVERIFY(parsed.ok());
        QCOMPARE(parsed->values("set"), (std::vector<std::string>{"a.b=-1", "c.d==x"}));
        QCOMPARE(parsed->value("set"), std::string("c.d==x"));
        QVERIFY(parsed->has("now") && !parsed->help());
        QCOMPARE(parsed->operand(0), std::string("run"));
        QCOMPARE(parsed->operand(1), std::string("--path"));
        QVERIFY(cli::Arguments::parse(command(), {"-h"})->help());
        QVERIFY(cli::Arguments::parse(command(), {"run", "-"}).ok()); // a single minus is an operand
        for (const std::vector<std::string> &wrong : {std::vector<std::string>{},
                                                      {"run", "path", "more"},
                                                      {"run", "--set"},
                                                      {"run", "--sett=x"},
                                                      {"run", "-now"},
                                                      {"run", "--now=1"}})
            QVERIFY(!cli::Arguments::parse(command(), wrong).ok());
    }

    void alignsTables()
    {
        const std::string text = cli::table({{"NAME", "N"}, {"é", "10"}, {"longer", "–"}}, {false, true});
        QCOMPARE(text, std::string("NAME     N\né       10\nlonger   –\n"));
    }

    void cutsToTheWidth()
    {
        QCOMPARE(cli::fitted("abc", 3), std::string("abc"));
        QCOMPARE(cli::fitted("abcd", 3), std::string("ab…"));
        QCOMPARE(cli::fitted("äöüß", 3), std::string("äö…"));
        QCOMPARE(cli::fitted("abcd", 0), std::string("…"));
    }

    void tellsHowItGoes()
    {
        session::RunSummary run;
        QCOMPARE(cli::progressLine(run), std::string("epoch 0.0  step 0  loss –"));
        QVERIFY(cli::knnText(run).empty());
        run.epoch = 2.25;
        run.epochs = 5;
        run.step = 90;
        run.steps = 195;
        run.loss = 4.3214;
        run.untrainedKnn = 0.562;
        QCOMPARE(cli::knnText(run), std::string("kNN 0.5620 (untrained)"));
        run.lastKnn = 0.6411;
        run.imagesPerSecond = 1240.4;
        run.secondsLeft = 48;
        QCOMPARE(cli::progressLine(run),
                 std::string("epoch 2.2/5  step 90/195  loss 4.321  kNN 0.562 → 0.641  1240 images/s  0:48 left"));
        QCOMPARE(cli::knnText(run), std::string("kNN 0.6411 (untrained 0.5620)"));
    }

    /// Which of several ends is the cause: a consequence often comes first.
    void blamesTheCause_data()
    {
        QTest::addColumn<int>("blamed");
        QTest::newRow("signal before a lost connection") << 1;
        QTest::newRow("error before a lost connection") << 1;
        QTest::newRow("stopped before a time-out") << 1;
        QTest::newRow("ended by us is nobody's fault") << 0;
    }
    void blamesTheCause()
    {
        QFETCH(int, blamed);
        const QByteArray kind = QTest::currentDataTag();
        const testing::Sandbox box;
        const runs::RunFolder folder = box.makeRun(2);
        session::RankEnd first, second;
        first.exitCode = 1; // rank 0 ends first in every case
        second.rank = 1;
        second.order = 1;
        auto events0 = runs::EventWriter::open(folder.events(0)), events1 = runs::EventWriter::open(folder.events(1));
        if (kind.startsWith("signal")) second.signal = SIGKILL;
        if (kind.startsWith("stopped")) {
            second.stopped = second.byUs = true;
            second.signal = SIGKILL;
        }
        if (kind.startsWith("error")) {
            second.exitCode = 1;
        }
        if (kind.startsWith("ended")) {
            second.byUs = true;
            second.signal = SIGTERM;
        }
        const bool consequence = !kind.startsWith("ended");
        const std::string said = consequence ? "Connection closed by peer [127.0.0.1]" : "The loss is not finite";
        QVERIFY(events0->write("error", {{"step", 3}, {"epoch", 0.1}, {"what", said}, {"where", ""}, {"hint", ""}}).ok());
        if (kind.startsWith("error"))
            QVERIFY(
                events1->write("error", {{"step", 3}, {"epoch", 0.1}, {"what", "Bad image"}, {"where", ""}, {"hint", ""}})
                    .ok());
        QCOMPARE(session::explain(folder, {first, second}, 0).rank, blamed);
    }

    void readsOnlyTheEndOfALog()
    {
        const testing::Sandbox box;
        const auto file = session::toPath(box.path("log"));
        std::ofstream(file) << std::string(1'000'000, 'x') << "\none\n\n\x1b[2Jtwo\n" << std::string(5'000, 'y');
        const auto lines = session::lastLines(file, 3);
        QCOMPARE(lines.size(), std::size_t(3));
        QCOMPARE(lines[0], std::string("one"));
        QVERIFY(lines[1].find('\x1b') == std::string::npos);
        QVERIFY(lines[2].size() <= 400);
        QVERIFY(session::lastLines(session::toPath(box.path("nothing")), 3).empty());
    }
};

QTEST_GUILESS_MAIN(TestOutput)
#include "tst_output.moc"
