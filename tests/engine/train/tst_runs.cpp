// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/weights.h"
#include "core/engine/train/checkpoint.h"
#include "tests/engine/train/workerruns.h"

#include <QTemporaryDir>

#include <array>
#include <cmath>
#include <csignal>

using namespace parallax;
using namespace parallax::test;

namespace {

double largestDifference(const std::vector<double> &a, const std::vector<double> &b)
{
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
    return difference;
}

/// Largest difference between any two numbers of the newest checkpoints, optimiser state included.
double largestDifference(const WorkerRun &a, const WorkerRun &b)
{
    std::vector<std::string> warnings;
    const auto one = train::readNewest(a.run, warnings), two = train::readNewest(b.run, warnings);
    if (!one || !two || one->tensors.names().size() != two->tensors.names().size())
        return std::numeric_limits<double>::infinity();
    double difference = 0;
    for (const auto &name : one->tensors.names()) {
        const auto x = nn::readTensor(one->tensors, name), y = nn::readTensor(two->tensors, name);
        if (!x || !y) return std::numeric_limits<double>::infinity();
        difference = std::max(difference, (x->to(torch::kFloat64) - y->to(torch::kFloat64)).abs().max().item<double>());
    }
    return difference;
}

} // namespace

class TestRuns : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_dir.isValid());
        drawClasses(images(), 4, 16); // 48 to train on, 16 to evaluate on
    }

    void anyNumberOfRanksTrainsTheSameNetwork()
    {
        const Json config =
            with(smallConfig(images()),
                 {{"train.precision", "fp64"}, {"train.epochs", 100}, {"train.max_steps", 20}, {"eval.every_epochs", 3}});
        WorkerRun one(folder("one"), config), two(folder("two"), config);
        QCOMPARE(one.train(1), std::vector<int>{0});
        QCOMPARE(two.train(2), (std::vector<int>{0, 0}));
        QCOMPARE(one.losses().size(), std::size_t(20));
        QVERIFY2(largestDifference(one.losses(), two.losses()) < 1e-9,
                 qPrintable(QString::number(largestDifference(one.losses(), two.losses()))));
        QVERIFY2(largestDifference(one, two) < 1e-9, qPrintable(QString::number(largestDifference(one, two))));
        QVERIFY(one.losses().front() != one.losses().back()); // something was trained at all
        QVERIFY(!two.digest(0).empty());
        QCOMPARE(two.digest(0), two.digest(1));
        QCOMPARE(*runs::figure(one.events("eval").back().fields["knn_top1"]),
                 *runs::figure(two.events("eval").back().fields["knn_top1"]));
        for (const char *figure : {"feature_spread", "rankme", "alignment", "uniformity", "mean_cosine"}) {
            const double a = *runs::figure(one.events("eval").back().fields[figure]),
                         b = *runs::figure(two.events("eval").back().fields[figure]);
            QVERIFY2(std::isfinite(a) && std::abs(a - b) < 1e-9 * std::abs(a), figure);
        }
        QCOMPARE(one.events("plan").size(), std::size_t(1));
        QVERIFY(!one.events("memory").empty() && !two.events("memory", 1).empty());
    }

    void slicesOfDifferentSizeChangeNothing()
    {
        const Json config =
            with(smallConfig(images()), {{"train.precision", "fp64"}, {"train.max_steps", 6}, {"eval.every_epochs", 0}});
        WorkerRun one(folder("whole"), config), three(folder("uneven"), config); // 16 images: 5, 5 and 6
        QCOMPARE(one.train(1), std::vector<int>{0});
        QCOMPARE(three.train(3), (std::vector<int>{0, 0, 0}));
        QVERIFY2(largestDifference(one.losses(), three.losses()) < 1e-9,
                 qPrintable(QString::number(largestDifference(one.losses(), three.losses()))));
        QVERIFY(largestDifference(one, three) < 1e-9);
    }

    void partsOfABatchAreTheSameOnAnyNumberOfRanks()
    {
        const Json config = with(smallConfig(images()),
                                 {{"train.precision", "fp64"},
                                  {"train.accumulate", 2},
                                  {"train.max_steps", 5}, // into the second epoch
                                  {"checkpoint.every_steps", 2},
                                  {"eval.every_epochs", 0}});
        WorkerRun one(folder("parts"), config), three(folder("parts over ranks"), config); // 8 images: 2, 3 and 3
        QCOMPARE(one.train(1), std::vector<int>{0});
        QCOMPARE(three.train(3), (std::vector<int>{0, 0, 0}));
        QCOMPARE(one.losses().size(), std::size_t(5));
        QVERIFY2(largestDifference(one.losses(), three.losses()) < 1e-9,
                 qPrintable(QString::number(largestDifference(one.losses(), three.losses()))));
        QVERIFY(largestDifference(one, three) < 1e-9);
        QCOMPARE(one.events("plan").back().fields["accumulate"].get<int>(), 2);
        WorkerRun whole(folder("whole batches"), with(config, {{"train.accumulate", 1}}));
        QCOMPARE(whole.train(1), std::vector<int>{0});
        QVERIFY(whole.losses().front() > one.losses().front()); // 31 images to tell apart, not 15
    }

    void halfPrecisionTrainsAndResumesWithTheSameBits_data()
    {
        QTest::addColumn<QString>("precision");
        QTest::newRow("bfloat16") << "bf16";
        QTest::newRow("float16") << "fp16";
    }
    void halfPrecisionTrainsAndResumesWithTheSameBits()
    {
        QFETCH(QString, precision);
        const std::string name = precision.toStdString();
        const Json config = with(smallConfig(images()),
                                 {{"train.precision", name},
                                  {"train.epochs", 2},
                                  {"optim.schedule", "constant"}, // the same for the run that is cut short
                                  {"checkpoint.every_steps", 1}});
        WorkerRun whole(folder(name), config), parts(folder(name + " in two"), with(config, {{"train.max_steps", 4}}));
        WorkerRun exact(folder(name + " beside 32 bit"), with(config, {{"train.precision", "fp32"}}));
        QCOMPARE(whole.train(2), (std::vector<int>{0, 0}));
        QCOMPARE(exact.train(2), (std::vector<int>{0, 0}));
        QCOMPARE(whole.losses().size(), std::size_t(6));
        QVERIFY(whole.losses()[0] != exact.losses()[0] && std::abs(whole.losses()[0] - exact.losses()[0]) < 0.05);
        QCOMPARE(parts.train(2), (std::vector<int>{0, 0}));
        // The same run cut after four steps, its checkpoint taken up by a run that goes to the end.
        WorkerRun rest(folder(name + " resumed"), config);
        for (const auto &file : parts.run.listCheckpoints()) {
            std::filesystem::copy(file.tensors, rest.run.checkpoints() / file.tensors.filename());
            std::filesystem::copy(file.state, rest.run.checkpoints() / file.state.filename());
        }
        QCOMPARE(rest.train(2, {"--resume"}), (std::vector<int>{0, 0}));
        QCOMPARE(rest.losses().size(), std::size_t(2));
        QCOMPARE(rest.losses().back(), whole.losses().back());
        // Weights are kept in 32 bit.
        std::vector<std::string> warnings;
        const auto saved = train::readNewest(whole.run, warnings);
        QVERIFY(saved.ok());
        for (const auto &tensor : saved->tensors.names())
            QVERIFY2(nn::readTensor(saved->tensors, tensor)->scalar_type() != torch::kFloat16, tensor.c_str());
        const bool scaled = !whole.events("metrics").empty() && whole.events("metrics")[0].fields.contains("loss_scale");
        QCOMPARE(scaled, name == "fp16");
    }

    void withoutSynchronisationRanksStillAgreeOnTheWeights()
    {
        WorkerRun run(folder("apart"),
                      with(smallConfig(images()), {{"distributed.sync_bn", false}, {"distributed.gather", false}}));
        QCOMPARE(run.train(2), (std::vector<int>{0, 0}));
        QVERIFY(!run.digest(0).empty());
        QCOMPARE(run.digest(0), run.digest(1));
        QVERIFY(run.events("eval").size() == 2);
    }

    void interruptedAndResumedEndsWithTheSameBits()
    {
        const Json config =
            with(smallConfig(images()), {{"train.epochs", 12}, {"checkpoint.every_steps", 2}, {"eval.every_epochs", 4}});
        WorkerRun whole(folder("uninterrupted"), config), parts(folder("interrupted"), config);
        QCOMPARE(whole.train(1), std::vector<int>{0});
        parts.start(1);
        QTRY_VERIFY_WITH_TIMEOUT(parts.losses().size() >= 1, 60'000);
        parts.send("stop");
        QCOMPARE(parts.wait(), std::vector<int>{3});
        QVERIFY(parts.sawState("stopped"));
        const std::size_t before = parts.losses().size();
        QVERIFY(before < 36);
        parts.start(1, {"--resume"});
        QTRY_VERIFY_WITH_TIMEOUT(parts.losses().size() >= before + 3, 60'000);
        parts.ranks[0]->kill();
        QCOMPARE(parts.wait(), std::vector<int>{-1});
        QCOMPARE(parts.train(1, {"--resume"}), std::vector<int>{0});
        QVERIFY(!whole.digest().empty());
        QCOMPARE(parts.digest(), whole.digest());
        QCOMPARE(largestDifference(whole, parts), 0.0);
        const auto starts = parts.events("start");
        QCOMPARE(starts.size(), std::size_t(3));
        QVERIFY(starts[1].step > 0 && starts[1].fields["resumed"] == true);
    }

    void whatIsNotFiniteIsNeverSaved_data()
    {
        QTest::addColumn<double>("rate");
        for (const double rate : {1e6, 1e7, 1e30}) // the lower ones blow up within a few steps, in the weights or the loss
            QTest::addRow("%g", rate) << rate;
    }
    void whatIsNotFiniteIsNeverSaved()
    {
        QFETCH(double, rate);
        WorkerRun run(
            folder("nan" + std::to_string(rate)),
            with(smallConfig(images()),
                 {{"optim.base_lr", rate}, {"checkpoint.every_steps", 1}, {"train.epochs", 20}, {"eval.every_epochs", 0}}));
        QCOMPARE(run.train(2), (std::vector<int>{1, 1}));
        for (const int rank : {0, 1}) {
            const std::string error = run.last("error", rank);
            QVERIFY2(error.find("was not applied") != std::string::npos || error.find("not saved") != std::string::npos,
                     error.c_str());
        }
        std::vector<std::string> warnings;
        const auto checkpoint = train::readNewest(run.run, warnings);
        QVERIFY(checkpoint.ok());
        QVERIFY(warnings.empty());
        QVERIFY(checkpoint->progress.step + 1 >= std::int64_t(run.losses().size()));
        const auto tensors = nn::readTensors(checkpoint->tensors, "");
        QVERIFY(tensors.ok() && !tensors->empty());
        for (const auto &[name, tensor] : *tensors) QVERIFY2(tensor.isfinite().all().item<bool>(), name.c_str());
    }

    void collapseIsNamedWithinAnEpoch()
    {
        const auto black = folder("black-images");
        for (int i = 0; i < 32; ++i) {
            std::filesystem::create_directories(black);
            cv::imwrite((black / (std::to_string(i) + ".png")).string(), cv::Mat(16, 16, CV_8UC3, cv::Scalar::all(0)));
        }
        WorkerRun run(folder("black"), smallConfig(black));
        QCOMPARE(run.train(1), std::vector<int>{0});
        std::vector<std::pair<double, std::string>> warnings;
        for (const auto &event : run.events("log"))
            warnings.emplace_back(event.epoch, event.fields["text"].get<std::string>());
        const auto named = [&](const char *word, double epoch) {
            return std::any_of(warnings.begin(), warnings.end(),
                               [&](const auto &w) { return w.first <= epoch && w.second.find(word) != std::string::npos; });
        };
        QVERIFY(named("collapsed", 1));
        QVERIFY(named("chance", 2));
        QVERIFY(named("no labels", 0));
        for (const auto &eval : run.events("eval")) { // without labels the features alone are measured
            QVERIFY(!eval.fields.contains("knn_top1"));
            QCOMPARE(eval.fields["feature_spread"].get<double>(), 0.0);
        }
        QVERIFY(!run.events("eval").empty());
        QVERIFY(named("features have collapsed", 1));
    }

    void commandsActOnAllRanksAtOneStep()
    {
        WorkerRun run(
            folder("commands"),
            with(smallConfig(images()), {{"train.epochs", 1000}, {"checkpoint.every_epochs", 0}, {"eval.every_epochs", 0}}));
        run.start(2);
        QTRY_VERIFY_WITH_TIMEOUT(run.losses().size() >= 1, 60'000);
        run.send("pause");
        QTRY_VERIFY_WITH_TIMEOUT(run.sawState("paused", 0) && run.sawState("paused", 1), 60'000);
        const std::size_t steps = run.losses().size();
        QVERIFY(run.events("checkpoint").empty());
        run.send("checkpoint"); // a paused run still answers
        QTRY_COMPARE_WITH_TIMEOUT(run.events("checkpoint").size(), std::size_t(1), 60'000);
        QCOMPARE(run.losses().size(), steps);
        run.send("resume");
        QTRY_VERIFY_WITH_TIMEOUT(run.losses().size() > steps, 60'000);
        ::kill(pid_t(run.ranks[0]->processId()), SIGINT); // the supervisor's business, not a rank's
        run.send("stop");
        QCOMPARE(run.wait(), (std::vector<int>{3, 3}));
        QCOMPARE(run.digest(0), run.digest(1));
        QCOMPARE(run.run.listCheckpoints().back().step, std::int64_t(run.losses().size()));
    }

    void theEndOfInputMeansStop()
    {
        WorkerRun run(folder("eof"), with(smallConfig(images()), {{"train.epochs", 1000}, {"eval.every_epochs", 0}}));
        run.start(2);
        QTRY_VERIFY_WITH_TIMEOUT(run.losses().size() >= 1, 60'000);
        for (auto &rank : run.ranks) rank->closeWriteChannel();
        QCOMPARE(run.wait(), (std::vector<int>{3, 3}));
        QVERIFY(!run.run.listCheckpoints().empty());
    }

    void aHealthyRunSaysNothingInItsLogs()
    {
        WorkerRun run(folder("quiet"), with(smallConfig(images()), {{"train.epochs", 1}}));
        QCOMPARE(run.train(2), (std::vector<int>{0, 0}));
        for (int rank = 0; rank < 2; ++rank) {
            QFile log(QString::fromStdString(run.run.log(rank).string()));
            QVERIFY(log.open(QIODevice::ReadOnly));
            QCOMPARE(log.readAll(), QByteArray());
        }
    }

    void aDeadRankEndsTheOthersWithAReason()
    {
        WorkerRun run(folder("dead"), with(smallConfig(images()), {{"train.epochs", 1000}, {"eval.every_epochs", 0}}));
        run.start(2);
        QTRY_VERIFY_WITH_TIMEOUT(run.losses().size() >= 1, 60'000);
        run.ranks[1]->kill();
        QCOMPARE(run.wait(), (std::vector<int>{1, -1}));
        QVERIFY2(run.last("error").find("lost contact with another rank") != std::string::npos, run.last("error").c_str());
    }

    void aCheckpointThatDoesNotFitEndsTheRunAndKeepsTheEarlierOne()
    {
        WorkerRun run(folder("full"), with(smallConfig(images()), {{"checkpoint.every_epochs", 1}, {"train.epochs", 1}}));
        QCOMPARE(run.train(1), std::vector<int>{0});
        QVERIFY(writeFileAtomic(run.run.config(), with(smallConfig(images()), {{"train.epochs", 3}}).dump()).ok());
        std::array<QProcess, 2> limited; // no file may grow beyond 100 kB
        for (int rank = 0; rank < 2; ++rank)
            limited[std::size_t(rank)].start(
                "sh",
                {"-c", "ulimit -f 200; exec \"$0\" train --run \"$1\" --rank $2 --world 2 --store \"$1/limited\" --resume",
                 worker(), QString::fromStdString(run.run.path().string()), QString::number(rank)});
        for (auto &rank : limited) {
            QVERIFY(rank.waitForFinished(120'000));
            QCOMPARE(rank.exitCode(), 1);
        }
        QVERIFY2(run.last("error").find("step-6.safetensors") != std::string::npos, run.last("error").c_str());
        QVERIFY2(run.last("error").find("ulimit -f") != std::string::npos, run.last("error").c_str());
        // By these words the supervisor knows that rank 0 is to blame.
        QVERIFY2(run.last("error", 1).find("another rank failed") != std::string::npos, run.last("error", 1).c_str());
        QCOMPARE(run.run.listCheckpoints().size(), std::size_t(1));
        std::size_t files = 0;
        for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(run.run.checkpoints())) ++files;
        QCOMPARE(files, std::size_t(2)); // nothing temporary is left
        QCOMPARE(run.train(1, {"--resume"}), std::vector<int>{0});
    }

    void aBatchBeyondTheDataIsRefused()
    {
        WorkerRun run(folder("batch"), with(smallConfig(images()), {{"train.batch_size", 4096}}));
        QCOMPARE(run.train(1), std::vector<int>{1});
        QVERIFY2(run.last("error").find("larger than the 48 training images") != std::string::npos,
                 run.last("error").c_str());
    }

private:
    std::filesystem::path folder(const std::string &name) const
    {
        return std::filesystem::path(m_dir.path().toStdString()) / name;
    }
    std::filesystem::path images() const { return folder("images"); }
    QTemporaryDir m_dir;
};

QTEST_GUILESS_MAIN(TestRuns)
#include "tst_runs.moc"
