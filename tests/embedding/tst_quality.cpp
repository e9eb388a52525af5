// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/quality.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace parallax::embedding;

namespace {

std::vector<float> uniform(std::int64_t count, std::int64_t dim, unsigned seed)
{
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> number(-1, 1);
    std::vector<float> values(std::size_t(count * dim));
    for (float &v : values) v = number(generator);
    return values;
}

double square(const std::vector<float> &rows, std::int64_t dim, std::int64_t a, std::int64_t b)
{
    double sum = 0;
    for (std::int64_t i = 0; i < dim; ++i) sum += std::pow(double(rows[a * dim + i]) - rows[b * dim + i], 2);
    return sum;
}

/// How many rows lie nearer to a than b does.
int nearer(const std::vector<float> &rows, std::int64_t dim, std::int64_t count, std::int64_t a, std::int64_t b)
{
    int n = 0;
    for (std::int64_t c = 0; c < count; ++c) n += int(c != a && c != b && square(rows, dim, a, c) < square(rows, dim, a, b));
    return n;
}

/// Both figures straight from their definitions.
MapQuality naive(const std::vector<float> &rows, const std::vector<float> &xy, std::int64_t dim, std::int64_t n, int k)
{
    double beyond = 0, kept = 0;
    for (std::int64_t a = 0; a < n; ++a)
        for (std::int64_t b = 0; b < n; ++b) {
            if (a == b || nearer(xy, 2, n, a, b) >= k) continue;
            const int rank = nearer(rows, dim, n, a, b) + 1;
            beyond += std::max(0, rank - k);
            kept += rank <= k ? 1 : 0;
        }
    return {1 - 2 * beyond / double(n * k * (2 * n - 3 * k - 1)), kept / double(n * k), n};
}

} // namespace

class TestQuality : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void agreesWithTheDefinitions_data()
    {
        QTest::addColumn<int>("k");
        QTest::newRow("5") << 5;
        QTest::newRow("15") << 15;
    }
    void agreesWithTheDefinitions()
    {
        QFETCH(int, k);
        const auto rows = uniform(60, 3, 1);
        std::vector<float> xy; // the first two of three coordinates: neither perfect nor chance
        for (std::int64_t i = 0; i < 60; ++i) xy.insert(xy.end(), {rows[i * 3], rows[i * 3 + 1]});
        const QualityOptions options{.k = k, .metric = Metric::Euclidean};
        const auto quality = mapQuality(rows.data(), 60, 3, xy, options);
        QVERIFY(quality.ok());
        const auto truth = naive(rows, xy, 3, 60, k);
        QVERIFY(std::abs(quality->trustworthiness - truth.trustworthiness) < 1e-12);
        QVERIFY(std::abs(quality->preserved - truth.preserved) < 1e-12);
        QVERIFY(truth.trustworthiness > 0.6 && truth.trustworthiness < 0.99);
    }

    void perfectAndRandomMaps()
    {
        const auto rows = uniform(400, 2, 3), other = uniform(400, 2, 4);
        const QualityOptions options{.k = 10, .metric = Metric::Euclidean};
        const auto perfect = mapQuality(rows.data(), 400, 2, rows, options);
        QCOMPARE(perfect->trustworthiness, 1.0);
        QCOMPARE(perfect->preserved, 1.0);
        const auto chance = mapQuality(rows.data(), 400, 2, other, options);
        QVERIFY(std::abs(chance->trustworthiness - 0.5) < 0.05);
        QVERIFY(chance->preserved < 0.06);
    }

    void aSampleIsNearTheWhole()
    {
        const auto rows = uniform(1500, 3, 5);
        std::vector<float> xy;
        for (std::int64_t i = 0; i < 1500; ++i) xy.insert(xy.end(), {rows[i * 3], rows[i * 3 + 1]});
        const auto all = mapQuality(rows.data(), 1500, 3, xy, {.metric = Metric::Euclidean});
        const auto some = mapQuality(rows.data(), 1500, 3, xy, {.metric = Metric::Euclidean, .sample = 300});
        QCOMPARE(all->points, 1500);
        QCOMPARE(some->points, 300);
        QVERIFY(std::abs(all->trustworthiness - some->trustworthiness) < 0.02);
        QVERIFY(std::abs(all->preserved - some->preserved) < 0.03);
    }

    void rowsThatAreNotOnTheMapDoNotCount()
    {
        auto rows = uniform(100, 3, 6), xy = uniform(100, 2, 7);
        const auto clean = mapQuality(rows.data(), 100, 3, xy, {.k = 5});
        const float nan = std::numeric_limits<float>::quiet_NaN();
        rows.insert(rows.begin() + 30, {nan, 1, 1, 0.5F, 1, 1});
        xy.insert(xy.begin() + 20, {0, 0, nan, nan});
        const auto quality = mapQuality(rows.data(), 102, 3, xy, {.k = 5});
        QCOMPARE(quality->points, 100);
        QCOMPARE(quality->trustworthiness, clean->trustworthiness);
        QCOMPARE(quality->preserved, clean->preserved);
    }

    void whatCannotBeMeasuredIsSaid()
    {
        const auto rows = uniform(20, 2, 8);
        QVERIFY(!mapQuality(rows.data(), 20, 2, rows, {.k = 10}).ok());
        QVERIFY(!mapQuality(rows.data(), 20, 2, rows, {.k = 0}).ok());
        QVERIFY(!mapQuality(rows.data(), 10, 2, rows, {.k = 2}).ok());
        const std::atomic<bool> cancel = true;
        QVERIFY(!mapQuality(rows.data(), 20, 2, rows, {.k = 2, .cancel = &cancel}).ok());
    }
};

QTEST_GUILESS_MAIN(TestQuality)
#include "tst_quality.moc"
