// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/metrics/comparison.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

using namespace parallax::metrics;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// The curve at x by its definition: search every segment.
double naiveAt(const Curve &curve, double x)
{
    for (std::size_t i = 0; i < curve.x.size(); ++i)
        if (curve.x[i] == x) return curve.y[i];
    for (std::size_t i = 0; i + 1 < curve.x.size(); ++i)
        if (curve.x[i] < x && x < curve.x[i + 1])
            return curve.y[i] + (curve.y[i + 1] - curve.y[i]) * (x - curve.x[i]) / (curve.x[i + 1] - curve.x[i]);
    return missing;
}

std::vector<double> naiveValues(const std::vector<Curve> &curves, double x)
{
    std::vector<double> values;
    for (const Curve &curve : curves)
        if (const double y = naiveAt(curve, x); std::isfinite(y)) values.push_back(y);
    return values;
}

bool near(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) < 1e-9; }

/// Curves of different length and pace with gaps here and there.
std::vector<Curve> randomCurves(unsigned seed, int count)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<Curve> curves;
    for (int i = 0; i < count; ++i) {
        Curve curve;
        double x = uniform(random) < 0.5 ? 0 : 3 * uniform(random);
        const int length = 5 + int(60 * uniform(random));
        for (int k = 0; k < length; ++k) {
            curve.x.push_back(x);
            curve.y.push_back(uniform(random) < 0.1 ? missing : 100 * uniform(random) - 50);
            x += uniform(random) < 0.5 ? 1 : 0.25 + uniform(random);
        }
        curves.push_back(curve);
    }
    return curves;
}

} // namespace

class ComparisonTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void bandIsTheMeanOfWhatIsThere()
    {
        for (unsigned seed = 1; seed <= 20; ++seed) {
            const std::vector<Curve> curves = randomCurves(seed, 1 + int(seed % 5));
            const Band range = band(curves, Spread::Range), deviation = band(curves, Spread::Deviation);
            std::vector<double> xs;
            for (const Curve &curve : curves) xs.insert(xs.end(), curve.x.begin(), curve.x.end());
            std::sort(xs.begin(), xs.end());
            xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
            QCOMPARE(range.x, xs);
            for (std::size_t i = 0; i < xs.size(); ++i) {
                const std::vector<double> values = naiveValues(curves, xs[i]);
                QCOMPARE(range.count[i], int(values.size()));
                double mean = missing, squares = 0, low = missing, high = missing;
                if (!values.empty()) {
                    mean = 0;
                    for (const double v : values) mean += v / double(values.size());
                    for (const double v : values) squares += (v - mean) * (v - mean);
                    low = *std::min_element(values.begin(), values.end());
                    high = *std::max_element(values.begin(), values.end());
                }
                const double sd = values.empty() ? missing
                    : values.size() == 1         ? 0
                                                 : std::sqrt(squares / double(values.size() - 1));
                QVERIFY(near(range.mean[i], mean) && near(range.low[i], low) && near(range.high[i], high));
                QVERIFY(near(deviation.mean[i], mean) && near(deviation.low[i], mean - sd) &&
                        near(deviation.high[i], mean + sd));
            }
        }
    }

    /// A million steps a run need no million points of a band.
    void aLongBandIsSampled()
    {
        Curve curve;
        for (int i = 0; i < 100'000; ++i) {
            curve.x.push_back(i);
            curve.y.push_back(2.0 * i);
        }
        const Band sampled = band({curve, curve}, Spread::Range, 500);
        QCOMPARE(sampled.x.size(), std::size_t(500));
        QCOMPARE(sampled.x.front(), 0.0);
        QCOMPARE(sampled.x.back(), 99'999.0);
        for (std::size_t i = 0; i < sampled.x.size(); ++i) QVERIFY(std::abs(sampled.mean[i] - 2 * sampled.x[i]) < 1e-6);
    }

    void nothingGivesNothing()
    {
        QVERIFY(band({}, Spread::Range).x.empty());
        QVERIFY(band({Curve(), Curve()}, Spread::Deviation).x.empty());
        const Band gap = band({Curve{{1, 2}, {missing, missing}}}, Spread::Range);
        QCOMPARE(gap.count, std::vector<int>({0, 0}));
        QVERIFY(std::isnan(gap.mean[0]) && std::isnan(gap.low[0]) && std::isnan(gap.high[1]));
    }

    void timeToReachIsARecordedPoint()
    {
        const Curve rising{{0, 10, 20, 30}, {0.1, missing, 0.6, 0.9}}, falling{{0, 10, 20}, {5, 3, 2}};
        QCOMPARE(timeToReach(rising, 0.5, Direction::Larger), std::optional<double>(20));
        QCOMPARE(timeToReach(rising, 0.1, Direction::Larger), std::optional<double>(0));
        QCOMPARE(timeToReach(rising, 0.95, Direction::Larger), std::nullopt);
        QCOMPARE(timeToReach(falling, 3, Direction::Smaller), std::optional<double>(10));
        QCOMPARE(timeToReach(falling, 1, Direction::Smaller), std::nullopt);
        QCOMPARE(timeToReach(falling, 3, Direction::Neither), std::nullopt);
        QCOMPARE(timeToReach(falling, missing, Direction::Smaller), std::nullopt);
    }

    void theBestFollowsTheMetric_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("expected");
        const auto row = [](const char *name, Direction d) { QTest::newRow(name) << QString(name) << int(d); };
        for (const char *name :
             {"knn_top1", "knn_top5", "images_per_s", "rankme", "val/accuracy", "Val Acc", "f1", "feature_spread"})
            row(name, Direction::Larger);
        for (const char *name : {"loss", "train/loss", "val_loss", "rss_mb/r1", "step_ms/r0", "data_wait", "error_top1",
                                 "seconds", "mean_cosine", "uniformity"})
            row(name, Direction::Smaller);
        for (const char *name : {"lr", "temperature", "alignment", "grad_norm", "momentum", "glossy", "", "k"})
            row(name, Direction::Neither);
    }
    void theBestFollowsTheMetric()
    {
        QFETCH(QString, name);
        QFETCH(int, expected);
        QCOMPARE(int(direction(name.toStdString())), expected);
    }

    void bestIgnoresWhatIsMissing()
    {
        const std::vector<double> values{missing, 0.5, 0.7, missing, 0.7, 0.1};
        QCOMPARE(bestOf(values, Direction::Larger), std::optional<std::size_t>(2));
        QCOMPARE(bestOf(values, Direction::Smaller), std::optional<std::size_t>(5));
        QCOMPARE(bestOf(values, Direction::Neither), std::nullopt);
        QCOMPARE(bestOf({missing, 0.5}, Direction::Larger), std::nullopt);
    }

    void momentsSurviveALargeMean()
    {
        const Moments some = moments({1e9 + 1, missing, 1e9 + 2, 1e9 + 3});
        QCOMPARE(some.count, std::size_t(3));
        QCOMPARE(some.mean, 1e9 + 2);
        QCOMPARE(some.deviation, 1.0);
        QCOMPARE(moments({4}).deviation, 0.0);
        QVERIFY(std::isnan(moments({missing}).mean));
    }

    void pausesAreNoTraining()
    {
        // 10 s, a night, goes on at 50,000 for 5 s more.
        const std::vector<double> active = activeSeconds({1001, 1005, 1010, 50'001, 50'005}, 1000, {50'000});
        QCOMPARE(active, std::vector<double>({1, 5, 10, 11, 15}));
        QCOMPARE(activeSeconds({1001, 1002}, 1000, {}), std::vector<double>({1, 2}));
        QVERIFY(activeSeconds({}, 1000, {1, 2}).empty());
    }

    void settingsThatDifferAreFound()
    {
        const std::vector<Settings> runs{{{"a.x", "1"}, {"a.y", "on"}}, {{"a.x", "1"}, {"b.z", "3"}, {"a.y", "off"}}};
        const std::vector<Difference> rows = compareSettings(runs);
        std::map<std::string, bool> differs;
        std::vector<std::string> order;
        for (const Difference &row : rows) {
            differs[row.key] = row.differs;
            order.push_back(row.key);
            QCOMPARE(row.values.size(), std::size_t(2));
        }
        QCOMPARE(order, std::vector<std::string>({"a.x", "a.y", "b.z"}));
        QVERIFY(!differs["a.x"] && differs["a.y"] && differs["b.z"]);
        QVERIFY(!rows[2].values[0] && rows[2].values[1] == "3");
        QVERIFY(compareSettings({}).empty());
    }
};

QTEST_GUILESS_MAIN(ComparisonTest)
#include "tst_comparison.moc"
