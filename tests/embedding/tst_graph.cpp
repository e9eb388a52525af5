// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/graph.h"
#include "tests/support/npy.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

using namespace parallax::embedding;
using parallax::testing::readNpy;
using parallax::testing::Rows;

namespace {

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

/// Rows around `centres` places, as features of a trained network lie.
Rows clusters(std::int64_t count, std::int64_t dim, int centres, unsigned seed = 3)
{
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    std::vector<float> places(std::size_t(centres * dim));
    for (float &v : places) v = normal(generator);
    Rows rows{count, dim, {}};
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t d = 0; d < dim; ++d)
            rows.values.push_back(places[std::size_t(i % centres * dim + d)] + 0.5F * normal(generator));
    return rows;
}

double measured(const Rows &rows, std::int64_t a, std::int64_t b, Metric metric)
{
    double aa = 0, bb = 0, sum = 0;
    for (std::int64_t i = 0; i < rows.dim; ++i) {
        aa += double(rows.row(a)[i]) * rows.row(a)[i];
        bb += double(rows.row(b)[i]) * rows.row(b)[i];
    }
    const double la = metric == Metric::Cosine ? std::sqrt(aa) : 1, lb = metric == Metric::Cosine ? std::sqrt(bb) : 1;
    for (std::int64_t i = 0; i < rows.dim; ++i) sum += std::pow(rows.row(a)[i] / la - rows.row(b)[i] / lb, 2);
    return std::sqrt(sum);
}

/// Distances of every other row, ascending, the long way.
std::vector<std::pair<double, std::int64_t>> naive(const Rows &rows, std::int64_t item, Metric metric)
{
    std::vector<std::pair<double, std::int64_t>> all;
    for (std::int64_t other = 0; other < rows.count; ++other)
        if (other != item) all.emplace_back(measured(rows, item, other, metric), other);
    std::sort(all.begin(), all.end());
    return all;
}

bool same(const KnnGraph &a, const KnnGraph &b)
{
    return a.size == b.size && a.k == b.k && a.neighbour == b.neighbour && a.distance == b.distance;
}

} // namespace

class TestGraph : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void exactAgreesWithANaiveSearch_data();
    void exactAgreesWithANaiveSearch();
    void farFromTheOriginIsExactToo();
    void approximateFindsNearlyAll_data();
    void approximateFindsNearlyAll();
    void largeSetsAreSearchedApproximately();
    void anyNumberOfThreadsGivesTheSameGraph();
    void brokenRowsAreLeftOut();
    void copiesAreFoundAtDistanceZero();
    void fewRows();
    void questionsFromOutside();
    void cancelEnds_data();
    void cancelEnds();
};

void TestGraph::exactAgreesWithANaiveSearch_data()
{
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("dim");
    QTest::addColumn<bool>("cosine");
    QTest::newRow("cosine") << 230 << 19 << true;
    QTest::newRow("Euclidean") << 230 << 19 << false;
    QTest::newRow("one number a row") << 100 << 1 << false;
    QTest::newRow("whole panels") << 192 << 64 << true;
    QTest::newRow("wider than the cache") << 50 << 9000 << true;
}

void TestGraph::exactAgreesWithANaiveSearch()
{
    QFETCH(int, count);
    QFETCH(int, dim);
    QFETCH(bool, cosine);
    const Metric metric = cosine ? Metric::Cosine : Metric::Euclidean;
    const Rows rows = clusters(count, dim, 7);
    const Points points = Points::from(rows.data(), rows.count, rows.dim, metric);
    const auto graph = nearestGraph(points, 12);
    QVERIFY(graph.ok());
    QCOMPARE(graph->size, rows.count);
    QCOMPARE(graph->k, 12);
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const auto truth = naive(rows, row, metric);
        for (int i = 0; i < 12; ++i) {
            const double distance = graph->distances(row)[i] * points.unit;
            QVERIFY(std::abs(distance - truth[std::size_t(i)].first) < 1e-5 * (1 + truth[std::size_t(i)].first));
            if (truth[std::size_t(i) + 1].first - truth[std::size_t(i)].first > 1e-5 &&
                (i == 0 || truth[std::size_t(i)].first - truth[std::size_t(i) - 1].first > 1e-5))
                QCOMPARE(std::int64_t(graph->neighbours(row)[i]), truth[std::size_t(i)].second);
        }
    }
}

void TestGraph::farFromTheOriginIsExactToo()
{
    // Differences of 1 at an offset of 10,000: |a|² + |b|² - 2ab alone would be rounding.
    Rows rows = clusters(150, 8, 5);
    for (float &v : rows.values) v = std::round(v * 64) / 64 + 8192;
    const auto graph = nearestGraph(Points::from(rows.data(), rows.count, rows.dim, Metric::Euclidean), 5);
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const auto truth = naive(rows, row, Metric::Euclidean);
        for (int i = 0; i < 5; ++i)
            QVERIFY(measured(rows, row, graph->neighbours(row)[i], Metric::Euclidean) <=
                    truth[std::size_t(i)].first * (1 + 1e-5));
    }
}

void TestGraph::approximateFindsNearlyAll_data()
{
    QTest::addColumn<int>("centres");
    QTest::newRow("one cloud") << 1;
    QTest::newRow("ten classes") << 10;
    QTest::newRow("three hundred classes") << 300;
}

void TestGraph::approximateFindsNearlyAll()
{
    QFETCH(int, centres);
    const Rows rows = clusters(3000, 32, centres);
    const Points points = Points::from(rows.data(), rows.count, rows.dim, Metric::Cosine);
    const auto exact = nearestGraph(points, 15), approximate = approximateGraph(points, 15);
    QVERIFY(exact.ok() && approximate.ok());
    int found = 0;
    for (std::int64_t row = 0; row < rows.count; ++row)
        for (int i = 0; i < 15; ++i)
            found +=
                int(std::count(approximate->neighbours(row), approximate->neighbours(row) + 15, exact->neighbours(row)[i]));
    const double recall = found / (15.0 * double(rows.count));
    QVERIFY2(recall >= 0.99, qPrintable(QString::number(recall)));
}

void TestGraph::largeSetsAreSearchedApproximately()
{
    const Rows rows = clusters(400, 8, 4);
    const Points points = Points::from(rows.data(), rows.count, rows.dim, Metric::Cosine);
    SearchOptions options;
    options.exactWork = 0; // no set is small enough
    QVERIFY(same(*nearestGraph(points, 10, options), *approximateGraph(points, 10, options)));
}

void TestGraph::anyNumberOfThreadsGivesTheSameGraph()
{
    const Rows rows = clusters(700, 24, 5);
    const Points points = Points::from(rows.data(), rows.count, rows.dim, Metric::Cosine);
    SearchOptions one, many;
    one.threads = 1;
    many.threads = 5;
    QVERIFY(same(*nearestGraph(points, 9, one), *nearestGraph(points, 9, many)));
    QVERIFY(same(*approximateGraph(points, 9, one), *approximateGraph(points, 9, many)));
}

void TestGraph::brokenRowsAreLeftOut()
{
    const Rows clean = clusters(200, 6, 4);
    Rows rows = clean;
    const std::vector<float> broken{1, notANumber, 1, 1, 1, 1, 0, 0, 0,
                                    0, 0,          0, 1, 1, 1, 1, 1, std::numeric_limits<float>::infinity()};
    rows.values.insert(rows.values.begin() + 100 * 6, broken.begin(), broken.end());
    rows.count += 3;
    const Points points = Points::from(rows.data(), rows.count, rows.dim, Metric::Cosine);
    QCOMPARE(points.size(), clean.count);
    QCOMPARE(points.given, rows.count);
    QCOMPARE(points.rows[99], 99);
    QCOMPARE(points.rows[100], 103);
    QVERIFY(same(*nearestGraph(points, 5),
                 *nearestGraph(Points::from(clean.data(), clean.count, clean.dim, Metric::Cosine), 5)));
    // A zero row is a place like any other where length counts.
    QCOMPARE(Points::from(rows.data(), rows.count, rows.dim, Metric::Euclidean).size(), clean.count + 1);
}

void TestGraph::copiesAreFoundAtDistanceZero()
{
    const Rows rows = readNpy(PARALLAX_SOURCE_DIR "/tests/data/embed/half_copies.npy");
    QCOMPARE(rows.count, 300);
    const Points points = Points::from(rows.data(), rows.count, rows.dim, Metric::Cosine);
    for (const auto &graph : {nearestGraph(points, 15), approximateGraph(points, 15)})
        for (std::int64_t row = 0; row < rows.count; ++row) {
            const bool copy = naive(rows, row, Metric::Cosine)[14].first == 0;
            const std::set<std::int32_t> distinct(graph->neighbours(row), graph->neighbours(row) + 15);
            QCOMPARE(distinct.size(), std::size_t(15));
            QVERIFY(!distinct.count(std::int32_t(row)));
            if (copy) QCOMPARE(graph->distances(row)[14], 0.0F);
        }
}

void TestGraph::fewRows()
{
    const Rows rows = clusters(3, 4, 1);
    for (std::int64_t count = 0; count <= 3; ++count) {
        const Points points = Points::from(rows.data(), count, rows.dim, Metric::Cosine);
        for (const auto &graph : {nearestGraph(points, 15), approximateGraph(points, 15)}) {
            QVERIFY(graph.ok());
            QCOMPARE(graph->k, int(std::max<std::int64_t>(0, count - 1)));
            QCOMPARE(graph->neighbour.size(), std::size_t(count * graph->k));
        }
    }
}

void TestGraph::questionsFromOutside()
{
    const Rows rows = clusters(120, 10, 6);
    const Points points = Points::from(rows.data(), 100, rows.dim, Metric::Euclidean);
    const Points outside = points.alike(rows.row(100), 20);
    const auto graph = nearestAmong(points, outside, 4);
    QVERIFY(graph.ok());
    QCOMPARE(graph->size, 20);
    for (std::int64_t row = 0; row < 20; ++row) {
        std::vector<std::pair<double, std::int64_t>> truth;
        for (std::int64_t other = 0; other < 100; ++other)
            truth.emplace_back(measured(rows, 100 + row, other, Metric::Euclidean), other);
        std::sort(truth.begin(), truth.end());
        for (int i = 0; i < 4; ++i) QCOMPARE(std::int64_t(graph->neighbours(row)[i]), truth[std::size_t(i)].second);
    }
    QCOMPARE(nearestAmong(points, points, 1)->distance, std::vector<float>(100, 0.0F));
}

void TestGraph::cancelEnds_data()
{
    QTest::addColumn<bool>("exact");
    QTest::newRow("exact") << true;
    QTest::newRow("approximate") << false;
}

void TestGraph::cancelEnds()
{
    QFETCH(bool, exact);
    const Rows rows = clusters(50, 4, 2);
    const std::atomic<bool> cancel = true;
    SearchOptions options;
    options.cancel = &cancel;
    if (!exact) options.exactWork = 0;
    const auto graph = nearestGraph(Points::from(rows.data(), rows.count, rows.dim, Metric::Cosine), 5, options);
    QVERIFY(!graph.ok());
    QVERIFY(graph.error().message().find("cancelled") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestGraph)
#include "tst_graph.moc"
