// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/schedule.h"
#include "tests/support/reference.h"

#include <QTest>

using namespace parallax;

namespace {

/// The value of a reference file's schedule at `step`.
double valueAt(const nlohmann::json &params, std::int64_t step)
{
    const double start = params.value("start_value", 1.0), end = params.value("end_value", 0.0);
    if (params.contains("warmup_steps"))
        return optim::cosineWarmupSchedule(step, params.at("max_steps"), params.at("warmup_steps"), start, end,
                                           params.value("warmup_start_value", 0.0));
    return optim::cosineSchedule(step, params.at("max_steps"), start, end);
}

} // namespace

class Schedule : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void reference_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto &name : reference::cases("schedules")) QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void reference()
    {
        QFETCH(QString, name);
        const reference::Case expected(name.toStdString());
        const torch::Tensor steps = expected.tensor("input.step");
        torch::Tensor values = torch::empty({steps.numel()}, torch::kFloat64);
        for (std::int64_t i = 0; i < steps.numel(); ++i) values[i] = valueAt(expected.params, steps[i].item<std::int64_t>());
        std::string fault = expected.differs("output.value", values);
        QVERIFY2(fault.empty(), fault.c_str());
        if (!expected.has("output.lr")) return;
        fault = expected.differs("output.lr", values * expected.params.at("base_lr").get<double>());
        QVERIFY2(fault.empty(), fault.c_str());
    }

    void theRateScalesWithTheBatch()
    {
        optim::OptimConfig config;
        config.baseLr = 0.06;
        config.lrReferenceBatch = 128;
        QCOMPARE(optim::scaledLearningRate(config, 512), 0.24);
        config.lrReferenceBatch = 0;
        QCOMPARE(optim::scaledLearningRate(config, 512), 0.06);
    }

    void cosineEndsAtZero()
    {
        optim::OptimConfig config;
        config.baseLr = 1;
        config.lrReferenceBatch = 0;
        const optim::LearningRate rate(config, 64, 10, 50);
        QCOMPARE(rate.peak(), 1.0);
        QCOMPARE(rate.at(0), 1.0);
        QCOMPARE(rate.at(49), 0.0);
        for (int step = 1; step < 50; ++step) QVERIFY(rate.at(step) < rate.at(step - 1));
    }

    void warmUpRisesByTheStep()
    {
        optim::OptimConfig config;
        config.baseLr = 2;
        config.lrReferenceBatch = 0;
        config.warmupEpochs = 0.5;
        for (const std::string schedule : {"constant", "cosine"}) {
            config.schedule = schedule;
            const optim::LearningRate rate(config, 64, 8, 40); // four steps of warm-up
            QCOMPARE(rate.at(0), 0.5);
            QCOMPARE(rate.at(1), 1.0);
            QCOMPARE(rate.at(3), 2.0);
            QCOMPARE(rate.at(4), 2.0);
            QCOMPARE(rate.at(39), schedule == "constant" ? 2.0 : 0.0);
        }
    }

    void warmUpLongerThanTheRun()
    {
        optim::OptimConfig config;
        config.warmupEpochs = 100;
        config.lrReferenceBatch = 0;
        const optim::LearningRate rate(config, 64, 4, 12);
        QCOMPARE(rate.at(11), config.baseLr);
    }
};

QTEST_GUILESS_MAIN(Schedule)
#include "tst_schedule.moc"
