// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/series.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace parallax::metrics;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// The debiased average as its formula has it: weights w^k (1 - w) over the finite values so far, divided by their sum.
double naiveSmooth(const std::vector<double> &value, std::size_t at, double w)
{
    double sum = 0, weights = 0, factor = 1 - w;
    for (std::size_t i = at + 1; i-- > 0;) {
        if (!std::isfinite(value[i])) continue;
        sum += factor * value[i];
        weights += factor;
        factor *= w;
    }
    return sum / weights;
}

} // namespace

class SeriesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aResumedLogNeverGoesBack()
    {
        // The log of a run that reached step 150, was resumed from 100 and says so with nothing but its steps.
        QFile file(PARALLAX_SOURCE_DIR "/tests/data/metrics/resume-overlap.jsonl");
        QVERIFY(file.open(QIODevice::ReadOnly));
        Series series;
        while (!file.atEnd()) {
            const QJsonObject line = QJsonDocument::fromJson(file.readLine()).object();
            series.append(line["step"].toDouble(), 0, 0, line["loss"].toDouble());
        }
        QCOMPARE(series.size(), std::size_t(22));
        QVERIFY(std::ranges::adjacent_find(series.step, std::greater_equal()) == series.step.end());
        QCOMPARE(series.supersededStep, (std::vector<double>{110, 120, 130, 140, 150}));
        QCOMPARE(series.supersededValue.front(), 6.78);
        QCOMPARE(series.value[11], 6.48); // step 110 of the second part
        QCOMPARE(series.last(), 6.28);
    }

    void resumeMovesWhatLiesBeyond()
    {
        Series series;
        for (int i = 1; i <= 4; ++i) series.append(i, i / 2.0, 100 + i, i * 10);
        series.resumeFrom(2);
        QCOMPARE(series.step, (std::vector<double>{1, 2}));
        QCOMPARE(series.epoch.size(), series.time.size());
        QCOMPARE(series.supersededValue, (std::vector<double>{30, 40}));
        series.append(2, 1, 105, 21); // the same step again: the later word counts
        QCOMPARE(series.value, (std::vector<double>{10, 21}));
    }

    /// A line of another run, as two writers or a damaged disk leave it: it hides nothing of this one.
    void aStrayLineReplacesNothing_data()
    {
        QTest::addColumn<double>("step");
        QTest::addColumn<double>("time");
        QTest::newRow("older") << 3.0 << 7.0;
        QTest::newRow("of the same time") << 3.0 << 110.0;
        QTest::newRow("newer") << 3.0 << 5000.0;
        QTest::newRow("without a time") << 3.0 << 0.0;
        QTest::newRow("far ahead") << 900.0 << 110.0;
        QTest::newRow("far ahead and newer") << 900.0 << 5000.0;
        QTest::newRow("far ahead and older") << 900.0 << 7.0;
        QTest::newRow("the very first step") << 1.0 << 5000.0;
    }
    void aStrayLineReplacesNothing()
    {
        QFETCH(double, step);
        QFETCH(double, time);
        Series series;
        for (int i = 1; i <= 10; ++i) series.append(i, i / 2.0, 100 + i, i * 10);
        series.append(step, 0, time, -1);
        for (int i = 11; i <= 20; ++i) series.append(i, i / 2.0, 100 + i, i * 10);
        QCOMPARE(series.size(), std::size_t(20));
        for (std::size_t i = 0; i < 20; ++i) {
            QCOMPARE(series.step[i], double(i + 1));
            QCOMPARE(series.value[i], double(i + 1) * 10);
            QCOMPARE(series.epoch[i], double(i + 1) / 2);
        }
        QCOMPARE(series.supersededStep, std::vector<double>{step});
        QCOMPARE(series.supersededValue, std::vector<double>{-1});
    }

    void lastAndBestLookAtFiniteValues()
    {
        Series series;
        QVERIFY(!series.hasFinite());
        QVERIFY(std::isnan(series.last()) && std::isnan(series.best()));
        int step = 0;
        for (const double v : {0.5, missing, 0.75, 0.25, double(INFINITY), missing}) series.append(++step, 0, 0, v);
        QVERIFY(series.hasFinite());
        QCOMPARE(series.last(), 0.25);
        QCOMPARE(series.best(), 0.75);
        QCOMPARE(series.best(false), 0.25);
    }

    void smoothingIsTheDebiasedAverage()
    {
        std::mt19937 random(1);
        std::vector<double> value(200);
        for (double &v : value) v = std::normal_distribution<>(3, 2)(random);
        value[7] = value[8] = missing;
        value[100] = INFINITY;
        for (const double w : {0.0, 0.5, 0.97, 0.999999}) {
            const auto smoothed = smooth(value, w);
            QCOMPARE(smoothed.size(), value.size());
            for (std::size_t i = 0; i < value.size(); ++i) {
                if (!std::isfinite(value[i]))
                    QVERIFY(std::isnan(smoothed[i]));
                else
                    QVERIFY(std::abs(smoothed[i] - naiveSmooth(value, i, w)) < 1e-9);
            }
        }
        QCOMPARE(smooth({4, 4, 4}, 0.9), (std::vector<double>{4, 4, 4}));
    }

    void rangeLeavesASingleOutlierOut()
    {
        std::vector<double> value(1000, 1.0);
        for (std::size_t i = 0; i < value.size(); ++i) value[i] = double(i) / 1000;
        value[500] = 1e9;
        value[501] = -1e9;
        value[502] = missing;
        const auto [low, high] = robustRange(value);
        QVERIFY(low > -0.1 && low < 0.02);
        QVERIFY(high > 0.98 && high < 1.1);
    }

    void rangeOfFewEqualOrNoValues()
    {
        QCOMPARE(robustRange({}), std::pair(0.0, 1.0));
        QCOMPARE(robustRange({missing, INFINITY}), std::pair(0.0, 1.0));
        QCOMPARE(robustRange({0, 10}), std::pair(-0.5, 10.5));
        const auto [low, high] = robustRange({2, 2, 2});
        QVERIFY(low < 2 && high > 2);
        const auto [lowest, highest] = robustRange({-1.7e308, 1.7e308});
        QVERIFY(lowest < highest);
    }
};

QTEST_GUILESS_MAIN(SeriesTest)
#include "tst_series.moc"
