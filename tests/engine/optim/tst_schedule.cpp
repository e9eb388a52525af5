// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/schedule.h"

#include <QTest>

using namespace parallax;

class Schedule : public QObject
{
    Q_OBJECT

private Q_SLOTS:
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

    void theCosineMayEndElsewhere()
    {
        optim::OptimConfig config;
        config.baseLr = 2;
        config.lrReferenceBatch = 0;
        config.endLr = 0.1;
        QCOMPARE(optim::LearningRate(config, 64, 10, 50).at(49), 0.2);
    }

    void weightDecayFollowsItsOwnCosine()
    {
        optim::OptimConfig config;
        config.weightDecay = 0.04;
        QCOMPARE(optim::weightDecayAt(config, 5, 11), 0.04);
        config.weightDecaySchedule = "cosine";
        config.weightDecayEnd = 0.4;
        QCOMPARE(optim::weightDecayAt(config, 0, 11), 0.04);
        QCOMPARE(optim::weightDecayAt(config, 5, 11), 0.22);
        QCOMPARE(optim::weightDecayAt(config, 10, 11), 0.4);
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
