// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/fuzzy.h"
#include "core/embedding/quality.h"
#include "core/embedding/umap.h"
#include "tests/support/npy.h"

#include <QTest>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <thread>

using namespace parallax::embedding;
using parallax::testing::readNpy;
using parallax::testing::Rows;

namespace {

Rows fieldCase(const char *name) { return readNpy(std::string(PARALLAX_SOURCE_DIR "/tests/data/embed/") + name + ".npy"); }

/// Row i lies around place i % centres.
Rows clusters(std::int64_t count, std::int64_t dim, int centres, float width = 0.3F)
{
    std::mt19937 generator(5);
    std::normal_distribution<float> normal;
    std::vector<float> places(std::size_t(centres * dim));
    for (float &v : places) v = normal(generator);
    Rows rows{count, dim, {}};
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t d = 0; d < dim; ++d)
            rows.values.push_back(places[std::size_t(i % centres * dim + d)] + width * normal(generator));
    return rows;
}

double apart(const std::vector<float> &xy, std::int64_t a, std::int64_t b)
{
    return std::hypot(double(xy[std::size_t(a) * 2]) - xy[std::size_t(b) * 2],
                      double(xy[std::size_t(a) * 2 + 1]) - xy[std::size_t(b) * 2 + 1]);
}

bool allFinite(const std::vector<float> &xy)
{
    return std::all_of(xy.begin(), xy.end(), [](float v) { return std::isfinite(v); });
}

/// Share of rows whose nearest other row on the map is of the same group.
double sameGroup(const std::vector<float> &xy, std::int64_t count, int groups)
{
    int same = 0;
    for (std::int64_t a = 0; a < count; ++a) {
        std::int64_t best = -1;
        for (std::int64_t b = 0; b < count; ++b)
            if (b != a && (best < 0 || apart(xy, a, b) < apart(xy, a, best))) best = b;
        same += int(best % groups == a % groups);
    }
    return double(same) / double(count);
}

Edges edgesOf(std::vector<std::vector<std::pair<std::int32_t, float>>> rows)
{
    Edges edges;
    edges.begin.push_back(0);
    for (const auto &row : rows) {
        for (const auto &[target, weight] : row) {
            edges.target.push_back(target);
            edges.weight.push_back(weight);
        }
        edges.begin.push_back(std::int64_t(edges.target.size()));
    }
    return edges;
}

} // namespace

class TestUmap : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void curveIsThatOfThePaper_data();
    void curveIsThatOfThePaper();
    void weightsSumUpToTheLogarithm();
    void unionOfWeights();
    void groupsStayTogether();
    void mapIsTrustworthy();
    void anyNumberOfThreadsGivesTheSameMap();
    void startPlacesAreKept();
    void progressShowsTheMap();
    void newRowsJoinTheirGroup();
    void brokenRowsAreLeftOut();
    void fieldCases_data();
    void fieldCases();
    void fewRows();
    void cancelEndsSoon();
    void wrongOptionsAreRefused();
};

void TestUmap::curveIsThatOfThePaper_data()
{
    QTest::addColumn<double>("minDist");
    QTest::addColumn<double>("spread");
    QTest::addColumn<double>("a");
    QTest::addColumn<double>("b");
    // Least squares by SciPy's curve_fit over the same 300 points.
    QTest::newRow("default") << 0.1 << 1.0 << 1.576943460405378 << 0.8950608781227859;
    QTest::newRow("wide") << 0.5 << 1.0 << 0.5830300203414425 << 1.3341669929011977;
    QTest::newRow("none") << 0.0 << 1.0 << 1.93280839734315 << 0.7904949732233831;
}

void TestUmap::curveIsThatOfThePaper()
{
    QFETCH(double, minDist);
    QFETCH(double, spread);
    QFETCH(double, a);
    QFETCH(double, b);
    const auto curve = fitUmapCurve(minDist, spread);
    QVERIFY2(std::abs(curve.a - a) < 1e-4 && std::abs(curve.b - b) < 1e-4,
             qPrintable(QString("%1 %2").arg(curve.a, 0, 'g', 12).arg(curve.b, 0, 'g', 12)));
}

void TestUmap::weightsSumUpToTheLogarithm()
{
    const Rows rows = clusters(300, 6, 5);
    const auto graph = nearestGraph(Points::from(rows.data(), rows.count, rows.dim, Metric::Euclidean), 14);
    const Edges edges = smoothNeighbours(*graph);
    for (std::int64_t row = 0; row < rows.count; ++row) {
        double sum = 0, largest = 0;
        for (auto e = edges.begin[row]; e < edges.begin[row + 1]; ++e) {
            QVERIFY(e == edges.begin[row] || edges.target[e] > edges.target[e - 1]);
            sum += edges.weight[e];
            largest = std::max(largest, double(edges.weight[e]));
            if (edges.target[e] == graph->neighbours(row)[0]) QCOMPARE(edges.weight[e], 1.0F);
        }
        QVERIFY(std::abs(sum - std::log2(15)) < 1e-3);
        QCOMPARE(largest, 1.0);
    }
}

void TestUmap::unionOfWeights()
{
    const Edges edges = edgesOf({{{1, 0.5F}, {2, 0.25F}}, {{0, 0.5F}}, {{1, 1.0F}}});
    const Edges both = fuzzyUnion(edges);
    QVERIFY((both.begin == std::vector<std::int64_t>{0, 2, 4, 6}));
    QVERIFY((both.target == std::vector<std::int32_t>{1, 2, 0, 2, 0, 1}));
    QVERIFY((both.weight == std::vector<float>{0.75F, 0.25F, 0.75F, 1, 0.25F, 1}));
}

void TestUmap::groupsStayTogether()
{
    const Rows rows = clusters(400, 20, 8);
    const auto map = umap(rows.data(), rows.count, rows.dim);
    QVERIFY(map.ok() && allFinite(map->xy));
    QCOMPARE(sameGroup(map->xy, rows.count, 8), 1.0);
}

void TestUmap::mapIsTrustworthy()
{
    // A curved sheet in ten dimensions: what a plane can show. A random map has 0.5 and 0.01.
    std::mt19937 generator(2);
    std::uniform_real_distribution<double> uniform(0, 1);
    Rows rows{1200, 10, {}};
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const double u = 4 * uniform(generator), v = 2 * uniform(generator);
        for (int d = 0; d < 10; ++d) rows.values.push_back(float(std::cos(u + 0.3 * d) + 0.3 * v * d));
    }
    UmapOptions options;
    options.metric = Metric::Euclidean;
    QualityOptions asked;
    asked.metric = Metric::Euclidean;
    const auto map = umap(rows.data(), rows.count, rows.dim, options);
    const auto quality = mapQuality(rows.data(), rows.count, rows.dim, map->xy, asked);
    QVERIFY2(quality->trustworthiness > 0.98 && quality->preserved > 0.5,
             qPrintable(QString("%1 %2").arg(quality->trustworthiness).arg(quality->preserved)));
}

void TestUmap::anyNumberOfThreadsGivesTheSameMap()
{
    const Rows rows = clusters(2500, 8, 5);
    UmapOptions options;
    options.epochs = 40;
    options.threads = 1;
    const auto one = umap(rows.data(), rows.count, rows.dim, options);
    options.threads = 5;
    const auto many = umap(rows.data(), rows.count, rows.dim, options);
    QVERIFY(one->xy == many->xy);
    options.seed = 2;
    QVERIFY(umap(rows.data(), rows.count, rows.dim, options)->xy != one->xy);
}

void TestUmap::startPlacesAreKept()
{
    // Started from a map, a map stays where that one is: groups do not change sides.
    const Rows rows = clusters(300, 12, 6);
    UmapOptions options;
    const auto first = umap(rows.data(), rows.count, rows.dim, options);
    options.start = first->xy;
    options.seed = 9;
    const auto second = umap(rows.data(), rows.count, rows.dim, options);
    double moved = 0, size = 0;
    for (std::int64_t i = 0; i < rows.count; ++i) {
        moved += std::hypot(second->xy[i * 2] - first->xy[i * 2], second->xy[i * 2 + 1] - first->xy[i * 2 + 1]);
        size += apart(first->xy, i, (i * 7 + 1) % rows.count);
    }
    QVERIFY2(moved < 0.35 * size, qPrintable(QString::number(moved / size)));
    options.start.resize(8);
    QVERIFY(!umap(rows.data(), rows.count, rows.dim, options).ok());
}

void TestUmap::progressShowsTheMap()
{
    const Rows rows = clusters(200, 6, 4);
    UmapOptions options;
    std::vector<double> shares;
    std::vector<float> shown;
    options.watch = [&](double done, const std::vector<float> &xy) {
        shares.push_back(done);
        shown = xy;
    };
    const auto map = umap(rows.data(), rows.count, rows.dim, options);
    QVERIFY(!shares.empty() && std::is_sorted(shares.begin(), shares.end()));
    QCOMPARE(shares.back(), 1.0);
    QVERIFY(shown == map->xy);
}

void TestUmap::newRowsJoinTheirGroup()
{
    const Rows rows = clusters(480, 10, 6);
    const auto map = umap(rows.data(), 420, rows.dim);
    Rows others{61, rows.dim, std::vector<float>(rows.row(420), rows.row(420) + 60 * rows.dim)};
    others.values.insert(others.values.end(), std::size_t(rows.dim), std::numeric_limits<float>::quiet_NaN());
    const auto added = umapTransform(rows.data(), 420, rows.dim, map->xy, others.data(), others.count);
    QVERIFY(added.ok());
    QCOMPARE(added->skipped, 1);
    QVERIFY(std::isnan(added->xy[120]));
    for (std::int64_t i = 0; i < 60; ++i) { // 420 is a multiple of 6: new row i is of group i % 6
        std::vector<float> all = map->xy;
        all.insert(all.end(), added->xy.begin() + i * 2, added->xy.begin() + i * 2 + 2);
        std::int64_t best = 0;
        for (std::int64_t b = 1; b < 420; ++b)
            if (apart(all, 420, b) < apart(all, 420, best)) best = b;
        QCOMPARE(best % 6, i % 6);
    }
}

void TestUmap::brokenRowsAreLeftOut()
{
    const Rows clean = clusters(150, 5, 3);
    Rows rows = clean;
    rows.values.insert(rows.values.begin() + 50 * 5, {1, std::numeric_limits<float>::quiet_NaN(), 1, 1, 1, 0, 0, 0, 0, 0});
    rows.count += 2;
    const auto map = umap(rows.data(), rows.count, rows.dim), same = umap(clean.data(), clean.count, clean.dim);
    QCOMPARE(map->skipped, 2);
    for (int i = 100; i < 104; ++i) QVERIFY(std::isnan(map->xy[i]));
    std::vector<float> rest = map->xy;
    rest.erase(rest.begin() + 100, rest.begin() + 104);
    QVERIFY(rest == same->xy);
}

void TestUmap::fieldCases_data()
{
    QTest::addColumn<int>("distinct"); // places there must be at least
    QTest::newRow("five_points_100_times") << 5;
    QTest::newRow("all_equal") << 1;
    QTest::newRow("one_constant_column") << 200;
    QTest::newRow("half_copies") << 151;
    QTest::newRow("islands") << 42; // as many directions: far from the origin floats are coarse
    QTest::newRow("tiny_row") << 59;
}

void TestUmap::fieldCases()
{
    QFETCH(int, distinct);
    const Rows rows = fieldCase(QTest::currentDataTag());
    QVERIFY(rows.count > 0);
    const auto map = umap(rows.data(), rows.count, rows.dim);
    QVERIFY(map.ok());
    std::map<std::pair<float, float>, int> places;
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const bool zero = std::all_of(rows.row(row), rows.row(row) + rows.dim, [](float v) { return v == 0; });
        QCOMPARE(std::isfinite(map->xy[row * 2]) && std::isfinite(map->xy[row * 2 + 1]), !zero);
        if (!zero) ++places[{map->xy[row * 2], map->xy[row * 2 + 1]}];
    }
    QVERIFY2(int(places.size()) >= distinct, qPrintable(QString::number(places.size())));
    if (distinct <= 5) QCOMPARE(places.size(), std::size_t(distinct));
    for (std::int64_t a = 0; a < rows.count; ++a) // copies share a place
        for (std::int64_t b = 0; b < a; ++b)
            if (std::equal(rows.row(a), rows.row(a) + rows.dim, rows.row(b))) QCOMPARE(apart(map->xy, a, b), 0.0);
    const auto again = umap(rows.data(), rows.count, rows.dim);
    QVERIFY(std::equal(map->xy.begin(), map->xy.end(), again->xy.begin(),
                       [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
}

void TestUmap::fewRows()
{
    const Rows rows = clusters(4, 3, 4);
    for (std::int64_t count = 0; count <= 4; ++count) {
        const auto map = umap(rows.data(), count, rows.dim);
        QVERIFY(map.ok() && allFinite(map->xy));
        QCOMPARE(map->xy.size(), std::size_t(count * 2));
        for (std::int64_t a = 0; a < count; ++a)
            for (std::int64_t b = 0; b < a; ++b) QVERIFY(apart(map->xy, a, b) > 0.01 && apart(map->xy, a, b) < 100);
    }
}

void TestUmap::cancelEndsSoon()
{
    const Rows rows = clusters(5000, 16, 5);
    std::atomic<bool> cancel = false;
    UmapOptions options;
    options.epochs = 10'000'000; // days
    options.cancel = &cancel;
    options.watch = [&](double, const std::vector<float> &) { cancel = true; };
    const auto map = umap(rows.data(), rows.count, rows.dim, options);
    QVERIFY(!map.ok());
    QVERIFY(map.error().message().find("cancelled") != std::string::npos);
}

void TestUmap::wrongOptionsAreRefused()
{
    const Rows rows = clusters(20, 3, 2);
    UmapOptions options;
    options.neighbours = 1;
    QVERIFY(!umap(rows.data(), rows.count, rows.dim, options).ok());
    options = {};
    options.minDist = 2;
    QVERIFY(!umap(rows.data(), rows.count, rows.dim, options).ok());
    options = {};
    options.epochs = -1;
    QVERIFY(!umap(rows.data(), rows.count, rows.dim, options).ok());
}

QTEST_GUILESS_MAIN(TestUmap)
#include "tst_umap.moc"
