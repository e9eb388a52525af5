// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/app.h"
#include "core/session/summary.h"
#include "tests/support/sandbox.h"

#include <QDirIterator>
#include <QTest>

using namespace parallax;
using Output = testing::Sandbox::Output;
using Words = QStringList;

namespace {

runs::Json parsed(const QByteArray &text) { return runs::Json::parse(text.begin(), text.end(), nullptr, false); }

/// A `parallax` that goes on while the test does something to it.
class Running
{
public:
    Running(const testing::Sandbox &box, const Words &words)
    {
        m_process.setWorkingDirectory(box.path());
        m_process.start(qEnvironmentVariable("PARALLAX_CLI"), words);
    }
    ~Running()
    {
        m_process.kill();
        m_process.waitForFinished();
    }
    void signal(int number) { ::kill(pid_t(m_process.processId()), number); }
    bool ended(int timeoutMs = 20'000)
    {
        return m_process.state() == QProcess::NotRunning || m_process.waitForFinished(timeoutMs);
    }
    int code() const { return m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : -1; }
    /// All that it printed so far.
    const QByteArray &out()
    {
        m_out += m_process.readAllStandardOutput();
        return m_out;
    }

private:
    QByteArray m_out;
    QProcess m_process;
};

} // namespace

/// The real program, with fake workers.
class TestCli : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_box = std::make_unique<testing::Sandbox>(); }
    void cleanup()
    {
        QTRY_VERIFY_WITH_TIMEOUT(m_box->processes().empty(), 10'000);
        m_box.reset();
    }

    void everyCommandHasHelp()
    {
        const auto all = cli::commands();
        QVERIFY(all.size() >= 14);
        const Output overview = m_box->parallax({"--help"});
        QCOMPARE(overview.code, 0);
        for (const cli::Command &command : all) {
            const Output help = m_box->parallax(session::toQString(command.name).split(' ') << "--help");
            QVERIFY2(help.code == 0, command.name.c_str());
            QVERIFY(help.out.contains(("Usage: parallax " + command.name).c_str()));
            QVERIFY(help.out.contains("Example:\n  parallax "));
            for (const cli::Option &option : command.options) QVERIFY(help.out.contains(("--" + option.name).c_str()));
            QVERIFY(!help.out.contains("\x1b")); // no terminal: no colours
            QCOMPARE(overview.out.contains(("\n  " + command.name + " ").c_str()), !command.hidden);
        }
    }

    void namesTheNearest_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("hint");
        QTest::newRow("command") << Words{"traim"} << "parallax train";
        QTest::newRow("half a command") << Words{"data"} << "parallax data check";
        QTest::newRow("option") << Words{"train", "--presett", "demo"} << "--preset";
        QTest::newRow("no value") << Words{"train", "--preset"} << "needs a value";
        QTest::newRow("flag with value") << Words{"train", "--detach=yes"} << "takes no value";
        QTest::newRow("operand too many") << Words{"list", "all"} << "\"all\"";
        QTest::newRow("operand missing") << Words{"show"} << "RUN";
        QTest::newRow("preset") << Words{"train", "--preset", "dmeo"} << "demo";
        QTest::newRow("ranks") << Words{"train", "--preset", "demo", "--ranks", "two"} << "--ranks";
        QTest::newRow("run") << Words{"show", "nothing"} << "runs";
        QTest::newRow("escape codes") << Words{"\x1b[2Jtrain"} << "\\x1b";
    }
    void namesTheNearest()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, hint);
        const Output output = m_box->parallax(words);
        QCOMPARE(output.code, 2);
        QVERIFY2(output.err.contains(hint.toUtf8()), output.err.constData());
        QCOMPARE(output.err.count('\n'), 1);
        QVERIFY(!output.err.contains('\x1b'));
        // A script reads wrong usage as it reads any other error.
        const Output json = m_box->parallax(words.mid(0, 1) + Words{"--json"} + words.mid(1));
        QCOMPARE(json.code, 2);
        const auto error = parsed(json.out)["error"];
        QVERIFY2(error["what"].is_string() && error["where"].is_string() && error["hint"].is_string(), json.out.constData());
        QVERIFY2(json.out.contains(hint.toUtf8().replace('"', "\\\"").replace("\\x", "\\\\x")), json.out.constData());
    }

    /// A typo must not train for a week: refused before any folder is made, all of it in one go.
    void refusesAWrongConfiguration_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QStringList>("parts");
        QTest::newRow("misspelt key") << Words{"--set", "optim.base_lrr=0.1"}
                                      << Words{"optim.base_lrr", "0.1", "optim.base_lr"};
        QTest::newRow("other group") << Words{"--set", "optim.batch_size=8"} << Words{"train.batch_size"};
        QTest::newRow("wrong type") << Words{"--set", "train.epochs=many"} << Words{"train.epochs", "many", "whole number"};
        QTest::newRow("out of range") << Words{"--set", "train.epochs=0"} << Words{"train.epochs", "0"};
        QTest::newRow("unknown choice") << Words{"--set", "method.name=simclrr"}
                                        << Words{"method.name", "simclrr", "simclr"};
        QTest::newRow("decimal comma") << Words{"--set", "optim.base_lr=0,05"} << Words{"optim.base_lr"};
        QTest::newRow("no equals sign") << Words{"--set", "train.epochs"} << Words{"train.epochs"};
        QTest::newRow("several") << Words{"--set", "optim.lrr=1", "--set", "train.epochs=-3", "--device", "tpu"}
                                 << Words{"optim.lrr", "train.epochs", "distributed.device", "tpu"};
    }
    void refusesAWrongConfiguration()
    {
        QFETCH(QStringList, words);
        QFETCH(QStringList, parts);
        const Output output = m_box->parallax(Words{"train", "--preset", "demo"} + words);
        QCOMPARE(output.code, 2);
        for (const QString &part : parts) QVERIFY2(output.err.contains(part.toUtf8()), output.err.constData());
        QVERIFY(QDir(m_box->runs()).isEmpty());
        const Output json = m_box->parallax(Words{"train", "--preset", "demo", "--json"} + words);
        QCOMPARE(json.code, 2);
        QVERIFY(parsed(json.out)["error"]["what"].is_string());
    }

    void refusesBrokenConfigFiles()
    {
        const QDir inputs(QStringLiteral(PARALLAX_SOURCE_DIR "/tests/data/config"));
        QFile expectedFile(inputs.filePath("expected.json"));
        QVERIFY(expectedFile.open(QIODevice::ReadOnly));
        const auto expected = parsed(expectedFile.readAll());
        QVERIFY(m_box->parallax({"schema", "--json"}).code == 0); // cached from here on
        int seen = 0;
        for (const auto &name : expected["refused"]) {
            const QString file = inputs.filePath(session::toQString(name.get<std::string>()));
            if (!QFile::exists(file)) continue; // the large ones are made by the tests of the reader
            const Output output = m_box->parallax({"train", "--config", file});
            QVERIFY2(output.code == 2, file.toUtf8().constData());
            QVERIFY2(!output.err.trimmed().isEmpty(), file.toUtf8().constData());
            ++seen;
        }
        QVERIFY(seen > 15);
        for (const auto &name : expected["accepted"]) {
            const QString file = inputs.filePath(session::toQString(name.get<std::string>()));
            QVERIFY2(m_box->parallax({"config", "--config", file}).code == 0, file.toUtf8().constData());
        }
        QVERIFY(QDir(m_box->runs()).isEmpty());
    }

    void refusesBeforeAFolderIsMade_data()
    {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("message");
        QTest::newRow("no images") << QByteArray() << Words{"--data", "/no/such/folder"} << "/no/such/folder";
        QTest::newRow("batch too large") << QByteArray() << Words{"--set", "train.batch_size=6000"} << "train.batch_size";
        QTest::newRow("no GPU") << QByteArray() << Words{"--device", "cuda"} << "0 CUDA devices";
        QTest::newRow("plan fails") << QByteArray("job_error=plan") << Words{} << "The script said so";
        QTest::newRow("plan is no JSON") << QByteArray("job_garbage=plan") << Words{} << "no JSON";
        QTest::newRow("schema is no JSON") << QByteArray("job_garbage=schema") << Words{} << "no JSON";
    }
    void refusesBeforeAFolderIsMade()
    {
        QFETCH(QByteArray, script);
        QFETCH(QStringList, words);
        QFETCH(QString, message);
        m_box->script(script.constData());
        const Output output = m_box->parallax(Words{"train", "--preset", "demo"} + words);
        QCOMPARE(output.code, 2);
        QVERIFY2(output.err.contains(message.toUtf8()), output.err.constData());
        QCOMPARE(output.err.count('\n'), 1);
        QVERIFY(QDir(m_box->runs()).isEmpty());
    }

    void saysThatTheRunsFolderCannotBeWritten()
    {
        const Output output = m_box->parallax({"train", "--preset", "demo", "--runs", "/proc/runs"});
        QCOMPARE(output.code, 2);
        QVERIFY2(output.err.contains("/proc/runs"), output.err.constData());
        QCOMPARE(output.err.count('\n'), 1);
    }

    void trains()
    {
        const Output output = m_box->parallax({"train", "--preset", "demo", "--name", "first", "--set", "train.epochs=4"});
        QVERIFY2(output.code == 0, output.err.constData());
        QVERIFY(output.out.contains("rank 0 on cpu, rank 1 on cpu"));
        QVERIFY(output.out.contains("epoch 4/4"));
        QVERIFY(output.out.contains("kNN 0.5600 (untrained)"));
        QVERIFY(output.out.contains("plots.svg"));
        QVERIFY(!output.out.contains('\x1b') && !output.out.contains('\r'));
        const Output json = m_box->parallax({"show", "first", "--json"});
        const auto run = parsed(json.out);
        QCOMPARE(run["record"]["state"].get<std::string>(), std::string("finished"));
        QCOMPARE(run["knn_untrained"].get<double>(), 0.56);
        QVERIFY(run["knn_last"].get<double>() > 0.6);
        QCOMPARE(run["knn_k"].get<double>(), 200.0);
        QCOMPARE(run["knn_temperature"].get<double>(), 0.1);
        QCOMPARE(run["changes"]["train"]["epochs"].get<int>(), 4);
        QVERIFY(!run["changes"]["train"].contains("seed"));
        QCOMPARE(run["checkpoints"].size(), std::size_t(4));
        QCOMPARE(run["embeddings"].size(), std::size_t(1));
        QCOMPARE(run["record"]["versions"]["torch"].get<std::string>(), std::string("2.15.0"));
        QCOMPARE(run["record"]["versions"]["torch_cuda"].get<bool>(), false);
        QVERIFY(run["record"]["git"].is_null()); // the sandbox is no checkout
        const auto list = parsed(m_box->parallax({"list", "--json"}).out);
        QCOMPARE(list.size(), std::size_t(1));
        QVERIFY(m_box->parallax({"list"}).out.contains("first"));
        QVERIFY(m_box->parallax({"show", "last"}).out.contains("k=200, t=0.10"));
    }

    void tellsWarningsOfARunningRunOnce()
    {
        m_box->script("unlabelled r0:warn@12 r1:warn@12");
        const Output output = m_box->parallax({"train", "--preset", "demo"});
        QCOMPARE(output.code, 0);
        QCOMPARE(output.out.count("warning: The script warns"), 1);
        QCOMPARE((output.out + output.err).count("The images have no labels"), 1);
        const auto run = parsed(m_box->parallax({"show", "last", "--json"}).out);
        QCOMPARE(run["warning_count"].get<int>(), 1);
        QVERIFY(m_box->parallax({"show", "last"}).out.contains("The script warns"));
    }

    void tellsAFailure()
    {
        m_box->script("r1:kill=9@12 rate=1000");
        const Output output = m_box->parallax({"train", "--preset", "demo"});
        QCOMPARE(output.code, 1);
        QVERIFY2(output.out.contains("rank 1 was killed by SIGKILL (out of memory?): after step 12"),
                 output.out.constData());
        QVERIFY(m_box->parallax({"show", "last"}).out.contains("failed: rank 1 was killed by SIGKILL"));
        m_box->script("");
        QCOMPARE(m_box->parallax({"resume", "last"}).code, 0);
        QVERIFY(m_box->parallax({"list"}).out.contains("finished"));
        const Output again = m_box->parallax({"resume", "last"});
        QCOMPARE(again.code, 2);
        QVERIFY(again.err.contains("finished"));
    }

    void stopsOnCtrlC()
    {
        Running run(*m_box, slow());
        QTRY_VERIFY(step() > 2);
        run.signal(SIGINT);
        QVERIFY(run.ended());
        QCOMPARE(run.code(), 130);
        const auto record = runs::RunRecord::load(*only()).value();
        QCOMPARE(toString(record.state), std::string("interrupted"));
        QCOMPARE(record.state_reason, std::string("stopped by user"));
        QVERIFY(!only()->listCheckpoints().empty());
        QVERIFY(run.out().contains("parallax resume"));
    }

    void endsAtOnceOnTwoCtrlC()
    {
        m_box->script("deaf rate=50");
        Running run(*m_box, slow());
        QTRY_VERIFY(step() > 2);
        run.signal(SIGINT);
        QTRY_VERIFY(run.out().contains("Ctrl-C again"));
        run.signal(SIGINT);
        QVERIFY(run.ended());
        QCOMPARE(run.code(), 130);
        QCOMPARE(toString(runs::RunRecord::load(*only())->state), std::string("interrupted"));
    }

    void stopsWhenTheTerminalCloses_data()
    {
        QTest::addColumn<int>("signal");
        QTest::newRow("SIGHUP") << SIGHUP;
        QTest::newRow("SIGTERM") << SIGTERM;
    }
    void stopsWhenTheTerminalCloses()
    {
        QFETCH(int, signal);
        Running run(*m_box, slow());
        QTRY_VERIFY(step() > 2);
        run.signal(signal);
        QVERIFY(run.ended());
        QCOMPARE(run.code(), 3);
        QVERIFY(!only()->listCheckpoints().empty());
    }

    /// Nobody is left to end the ranks: they see the end of their stdin, write a checkpoint and go; one that stands in a
    /// collective goes too.
    void leavesNothingWhenTheSupervisorIsKilled_data()
    {
        QTest::addColumn<QByteArray>("script");
        QTest::newRow("training") << QByteArray("rate=100");
        QTest::newRow("in a collective") << QByteArray("rate=100 r0:hang@5");
    }
    void leavesNothingWhenTheSupervisorIsKilled()
    {
        QFETCH(QByteArray, script);
        m_box->script(script.constData());
        Running run(*m_box, {"train", "--preset", "demo", "--set", "train.epochs=60"});
        QTRY_VERIFY(step() >= 4);
        run.signal(SIGKILL);
        QVERIFY(run.ended());
        QTRY_VERIFY_WITH_TIMEOUT(m_box->processes().empty(), 10'000);
        const auto list = parsed(m_box->parallax({"list", "--json"}).out);
        QCOMPARE(list[0]["record"]["state"].get<std::string>(), std::string("interrupted"));
        m_box->script("rate=1000");
        QCOMPARE(m_box->parallax({"resume", "last"}).code, 0);
    }

    void detaches()
    {
        m_box->script("rate=50");
        const Output started = m_box->parallax(slow() << "--detach"
                                                      << "--json");
        QVERIFY2(started.code == 0, started.err.constData());
        const runs::RunFolder folder(parsed(started.out)["run"].get<std::string>());
        QCOMPARE(toString(runs::RunRecord::load(folder)->state), std::string("running"));
        QTRY_VERIFY(session::summarize(folder).step > 2);
        QCOMPARE(m_box->parallax({"resume", "last"}).code, 2); // it is running
        QCOMPARE(m_box->parallax({"stop", "last"}).code, 0);
        QCOMPARE(runs::RunRecord::load(folder)->state_reason, std::string("stopped by user"));
        QCOMPARE(m_box->parallax({"stop", "last"}).code, 2); // nothing to stop
        m_box->script("rate=1000");
        QCOMPARE(m_box->parallax({"resume", "last", "--detach"}).code, 0);
        QCOMPARE(m_box->parallax({"stop", "last", "--now"}).code, 0);
        QCOMPARE(runs::RunRecord::load(folder)->attempts.size(), std::size_t(2));
    }

    /// A supervisor that cannot begin: the run does not stay queued.
    void saysThatASupervisorCannotBegin_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::newRow("here") << Words{};
        QTest::newRow("detached") << Words{"--detach"};
    }
    void saysThatASupervisorCannotBegin()
    {
        QFETCH(QStringList, words);
        const QString longPath = m_box->path(QString(120, 'x')); // longer than a socket's name may be
        QVERIFY(QDir().mkpath(longPath));
        m_box->set("XDG_RUNTIME_DIR", longPath);
        const Output output = m_box->parallax(Words{"train", "--preset", "demo"} + words);
        QCOMPARE(output.code, 2);
        QVERIFY2(output.err.contains("XDG_RUNTIME_DIR"), output.err.constData());
        QCOMPARE(toString(runs::RunRecord::load(*only())->state), std::string("failed"));
    }

    void detachedErrorsAreJson()
    {
        const Output output = m_box->parallax({"train", "--preset", "demo", "--detach", "--json", "--set", "train.epoch=2"});
        QCOMPARE(output.code, 2);
        QVERIFY(parsed(output.out)["error"]["what"].get<std::string>().find("train.epochs") != std::string::npos);
        QVERIFY(QDir(m_box->runs()).isEmpty());
    }

    void jobsAnswerAsTextAndJson_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::newRow("methods") << Words{"methods"};
        QTest::newRow("schema") << Words{"schema"};
        QTest::newRow("doctor") << Words{"doctor"};
        QTest::newRow("data check") << Words{"data", "check", "fashion-mnist"};
        QTest::newRow("data stats") << Words{"data", "stats", "fashion-mnist"};
        QTest::newRow("preview") << Words{"preview", "--preset", "demo", "--images", "2", "--out", "views"};
        QTest::newRow("embed") << Words{"embed", "last", "--epoch", "1"};
        QTest::newRow("eval") << Words{"eval", "last", "--epoch", "1"};
        QTest::newRow("settings of eval") << Words{"schema", "eval"};
        QTest::newRow("export") << Words{"export", "last", "--out", "weights.safetensors"};
        QTest::newRow("selftest") << Words{"selftest"};
        QTest::newRow("list") << Words{"list"};
        QTest::newRow("show") << Words{"show", "last"};
    }
    void jobsAnswerAsTextAndJson()
    {
        QFETCH(QStringList, words);
        m_box->makeFinishedRun();
        const Output text = m_box->parallax(words), json = m_box->parallax(words + Words{"--json"});
        QVERIFY2(text.code == 0, text.err.constData());
        QVERIFY(!text.out.isEmpty());
        QVERIFY(!text.out.contains('\x1b')); // the fake's file names hold escape codes
        QVERIFY2(json.code == 0, json.err.constData());
        QVERIFY(!parsed(json.out).is_discarded());
    }

    void evaluationsAreToldStoredAndListed()
    {
        const runs::RunFolder run = m_box->makeFinishedRun();
        const Output text = m_box->parallax({"eval", "last", "--lr", "0.1"});
        QVERIFY2(text.code == 0, text.err.constData());
        for (const char *part : {"90 images to learn from, 10 for validation", "0.7000    0.9000", "0.5000    0.8000",
                                 "best  0.9000 top-1, 1.0000 top-5, after epoch 1", "last  0.8000 top-1"})
            QVERIFY2(text.out.contains(part), text.out.constData());
        QVERIFY(text.err.contains("warning: escape") && !text.err.contains('\x1b'));
        QVERIFY(!text.out.contains("a warning of a library"));
        const Output json = m_box->parallax({"eval", "last", "--json"});
        QCOMPARE(parsed(json.out)["best"]["top1"].get<double>(), 0.9);
        QVERIFY2(json.err.isEmpty(), json.err.constData());
        QCOMPARE(run.listEvaluations().size(), std::size_t(2));
        const auto shown = parsed(m_box->parallax({"show", "last", "--json"}).out)["evaluations"];
        QCOMPARE(shown.size(), std::size_t(2));
        QCOMPARE(shown[0]["checkpoint_epoch"].get<int>(), 3);
        QCOMPARE(shown[0]["last"]["top1"].get<double>(), 0.8);
        QVERIFY(m_box->parallax({"show", "last"}).out.contains("linear of epoch 3: 0.8000 last, 0.9000 best"));
        m_box->script("job_error=eval");
        const Output failed = m_box->parallax({"eval", "last"});
        QCOMPARE(failed.code, 1);
        QVERIFY2(failed.err.contains("The script said so"), failed.err.constData());
        m_box->script("job_garbage=eval");
        QVERIFY(m_box->parallax({"eval", "last"}).err.contains("no JSON"));
    }

    void dataCheckTellsWhatSpoilsATraining()
    {
        const Output output = m_box->parallax({"data", "check", "fashion-mnist"});
        for (const char *part :
             {"4500 to train on, 500 to evaluate on (fraction)", "largest class 2500", "below 32 px", "a.png is b\\x1b.png",
              "1 to evaluate on that are trained on", "12 MB decoded", "0.5 s to read",
              "do not try them again: /cache/0.unreadable", "accuracy comes out too high"})
            QVERIFY2(output.out.contains(part), (std::string(part) + " in " + output.out.toStdString()).c_str());
    }

    void selftestShowsATableAndFailsOnAMiss()
    {
        Output output = m_box->parallax({"selftest"});
        QCOMPARE(output.code, 0);
        QVERIFY2(output.out.contains("3.1e-15") && output.out.contains("ok: any number of ranks"), output.out);
        QCOMPARE(output.out.count('\n'), 6); // head, two methods on 2 and 4 ranks, summary
        m_box->set("FAKEWORKER", QStringLiteral("selftest=byol"));
        output = m_box->parallax({"selftest"});
        QCOMPARE(output.code, 1);
        QVERIFY2(output.out.contains("MISSED: 2 differ") && output.out.contains("Infinity"), output.out);
        output = m_box->parallax({"selftest", "--json"});
        QCOMPARE(output.code, 1);
        const auto answer = parsed(output.out);
        QCOMPARE(answer["ok"].get<bool>(), false);
        QCOMPARE(answer["rows"].size(), std::size_t(4));
        QCOMPARE(m_box->parallax({"selftest", "--method", "simclr"}).code, 0);
        output = m_box->parallax({"selftest", "--method", "simclear"});
        QCOMPARE(output.code, 2);
        QVERIFY2(output.err.contains("Did you mean simclr"), output.err);
        m_box->set("FAKEWORKER", QStringLiteral("job_error=selftest"));
        QCOMPARE(m_box->parallax({"selftest"}).code, 1);
        qunsetenv("FAKEWORKER");
    }

    void doctorFindsWhatIsBroken()
    {
        m_box->set("PARALLAX_WORKER", QStringLiteral("/nowhere/worker"));
        const Output output = m_box->parallax({"doctor", "--json"});
        QCOMPARE(output.code, 1);
        QCOMPARE(parsed(output.out)["ok"].get<bool>(), false);
        m_box->set("PARALLAX_RUN", QStringLiteral("typo"));
        QVERIFY(m_box->parallax({"doctor"}).out.contains("PARALLAX_RUNS"));
        qunsetenv("PARALLAX_RUN");
    }

    void listNamesAFewOfManyUnreadableRuns()
    {
        const runs::RunFolder model = m_box->makeFinishedRun();
        QVERIFY(writeFileAtomic(model.record(), "{ not JSON").ok());
        for (int i = 0; i < 40; ++i) {
            const auto copy = model.path().parent_path() / ("20200101T000000Z-simclr-x" + std::to_string(i));
            std::filesystem::copy(model.path(), copy, std::filesystem::copy_options::recursive);
        }
        const Output output = m_box->parallax({"list"});
        QCOMPARE(output.code, 0);
        QCOMPARE(output.out.count("unreadable"), 41);
        QCOMPARE(output.err.count('\n'), 11);
        QVERIFY2(output.err.contains("and 31 more"), output.err.constData());
    }

    void printsPointsInEveryLocale()
    {
        const Output plain = m_box->parallax({"config", "--preset", "demo"});
        m_box->set("LC_ALL", QStringLiteral("de_DE.UTF-8"));
        const Output german = m_box->parallax({"config", "--preset", "demo"});
        m_box->set("LC_ALL", QStringLiteral("C.UTF-8"));
        QCOMPARE(plain.code, 0);
        QCOMPARE(german.out, plain.out);
    }

private:
    static Words slow() { return {"train", "--preset", "demo", "--set", "train.epochs=1000"}; }
    std::optional<runs::RunFolder> only() const
    {
        const auto all = runs::listRuns(session::toPath(m_box->runs()));
        return all.size() == 1 ? std::optional(all.front()) : std::nullopt;
    }
    std::int64_t step() const
    {
        const auto folder = only();
        return folder ? session::summarize(*folder).step : -1;
    }

    std::unique_ptr<testing::Sandbox> m_box;
};

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
