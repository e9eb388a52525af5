// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/project.h"
#include "tests/support/npy.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

using namespace parallax::embedding;
using parallax::testing::readNpy;
using parallax::testing::Rows;

namespace {

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Rows data(const char *name) { return readNpy(std::string(PARALLAX_SOURCE_DIR "/tests/data/embed/") + name + ".npy"); }

Rows gaussian(std::int64_t count, const std::vector<double> &deviations, unsigned seed = 7)
{
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Rows rows{count, std::int64_t(deviations.size()), {}};
    for (std::int64_t i = 0; i < count; ++i)
        for (const double d : deviations) rows.values.push_back(float(d * normal(generator)));
    return rows;
}

bool allFinite(const std::vector<float> &xy)
{
    return std::all_of(xy.begin(), xy.end(), [](float v) { return std::isfinite(v); });
}

double distance(const std::vector<float> &xy, std::int64_t a, std::int64_t b)
{
    return std::hypot(xy[a * 2] - xy[b * 2], xy[a * 2 + 1] - xy[b * 2 + 1]);
}

double naiveCosine(const Rows &rows, std::int64_t a, std::int64_t b)
{
    double dot = 0, aa = 0, bb = 0;
    for (std::int64_t i = 0; i < rows.dim; ++i) {
        dot += double(rows.row(a)[i]) * rows.row(b)[i];
        aa += double(rows.row(a)[i]) * rows.row(a)[i];
        bb += double(rows.row(b)[i]) * rows.row(b)[i];
    }
    return dot / std::sqrt(aa * bb);
}

/// Variance of the rows' projections on a direction, both recomputed the long way.
double varianceAlong(const Rows &rows, const std::vector<double> &direction)
{
    std::vector<double> along;
    for (std::int64_t r = 0; r < rows.count; ++r) {
        double sum = 0;
        for (std::int64_t i = 0; i < rows.dim; ++i) sum += direction[i] * rows.row(r)[i];
        along.push_back(sum);
    }
    double mean = 0, variance = 0;
    for (const double v : along) mean += v / double(along.size());
    for (const double v : along) variance += (v - mean) * (v - mean) / double(along.size());
    return variance;
}

double columnVariance(const std::vector<float> &xy, int column)
{
    double mean = 0, variance = 0;
    const double n = double(xy.size()) / 2;
    for (std::size_t i = 0; i < xy.size(); i += 2) mean += xy[i + column] / n;
    for (std::size_t i = 0; i < xy.size(); i += 2) variance += std::pow(xy[i + column] - mean, 2) / n;
    return variance;
}

} // namespace

class TestProject : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void pcaFindsTheAxesOfLargestVariance();
    void pcaKeepsDistancesOfPlaneData();
    void pcaOfWideVectorsAgreesWithNarrowOnes();
    void pcaSignIsFixed();
    void pcaLeavesOutRowsThatAreNotFinite();
    void pcaOfDegenerateData_data();
    void pcaOfDegenerateData();
    void pcaHoldsAtTheEndsOfFloat();
    void pcaOfFieldCases_data();
    void pcaOfFieldCases();
    void copiesStayTogether();
    void halfCopiesLeaveTheOthersSpread();
    void pcaIsCancelled_data();
    void pcaIsCancelled();
    void neighboursAgreeWithANaiveSearch();
    void neighboursOfFewPoints();
    void equalScoresComeInOrder();
    void zeroVectorsAreNobodysNeighbour();
    void tinyVectorsScoreWithinOne();
    void equalVectorsAreNamed();
    void neighboursAreCancelled();
};

void TestProject::pcaFindsTheAxesOfLargestVariance()
{
    const Rows rows = gaussian(400, {1, 5, 0.5, 3});
    const auto map = pca(rows.data(), rows.count, rows.dim);
    QVERIFY(map.ok());
    // No direction of a fine fan through the two strongest coordinates beats the first axis.
    double best = 0;
    for (double angle = 0; angle < M_PI; angle += 0.001)
        best = std::max(best, varianceAlong(rows, {0, std::cos(angle), 0, std::sin(angle)}));
    QVERIFY(columnVariance(map->xy, 0) >= best * (1 - 1e-5));
    double total = 0;
    for (int i = 0; i < 4; ++i) {
        std::vector<double> axis(4, 0.0);
        axis[i] = 1;
        total += varianceAlong(rows, axis);
    }
    QVERIFY(std::abs(map->explained[0] - columnVariance(map->xy, 0) / total) < 1e-5);
    QVERIFY(std::abs(map->explained[1] - columnVariance(map->xy, 1) / total) < 1e-5);
    QVERIFY(map->explained[0] > map->explained[1]);
}

void TestProject::pcaKeepsDistancesOfPlaneData()
{
    // Points of a plane, turned into 6 dimensions by two orthonormal vectors: the map is the plane again.
    const Rows plane = gaussian(50, {2, 1});
    const std::array<double, 6> u{0.5, 0.5, 0.5, 0.5, 0, 0}, v{0.5, -0.5, 0.5, -0.5, 0, 0};
    Rows rows{plane.count, 6, {}};
    for (std::int64_t r = 0; r < plane.count; ++r)
        for (int i = 0; i < 6; ++i) rows.values.push_back(float(10 + plane.row(r)[0] * u[i] + plane.row(r)[1] * v[i]));
    const auto map = pca(rows.data(), rows.count, rows.dim);
    QVERIFY(map.ok());
    for (std::int64_t a = 0; a < rows.count; ++a)
        for (std::int64_t b = 0; b < a; ++b)
            QVERIFY(std::abs(distance(map->xy, a, b) - distance(plane.values, a, b)) < 1e-4);
    QVERIFY(std::abs(map->explained[0] + map->explained[1] - 1) < 1e-6);
}

void TestProject::pcaOfWideVectorsAgreesWithNarrowOnes()
{
    // The same 40 numbers, once alone and once among 700 columns that hold nothing: two ways of solving, one map.
    std::vector<double> deviations;
    for (int i = 0; i < 40; ++i) deviations.push_back(3 * std::pow(0.8, i));
    const Rows narrow = gaussian(150, deviations);
    Rows wide{narrow.count, 740, {}};
    for (std::int64_t r = 0; r < narrow.count; ++r) {
        wide.values.insert(wide.values.end(), narrow.row(r), narrow.row(r) + 40);
        wide.values.insert(wide.values.end(), 700, 0.5F);
    }
    const auto a = pca(narrow.data(), narrow.count, narrow.dim), b = pca(wide.data(), wide.count, wide.dim);
    QVERIFY(a.ok() && b.ok());
    for (std::size_t i = 0; i < a->xy.size(); ++i) QVERIFY(std::abs(a->xy[i] - b->xy[i]) < 1e-3);
    QVERIFY(std::abs(a->explained[0] - b->explained[0]) < 1e-6);
}

void TestProject::pcaSignIsFixed()
{
    Rows rows = gaussian(100, {1, 4, 2});
    const auto map = pca(rows.data(), rows.count, rows.dim);
    const auto again = pca(rows.data(), rows.count, rows.dim);
    QVERIFY(map->xy == again->xy);
    // The first axis is nearly the second coordinate, so they must grow together.
    const auto largest = std::max_element(rows.values.begin(), rows.values.end(), [](float a, float b) { return a < b; });
    QVERIFY(map->xy[(largest - rows.values.begin()) / 3 * 2] > 0);
}

void TestProject::pcaLeavesOutRowsThatAreNotFinite()
{
    Rows rows = gaussian(60, {3, 2, 1});
    const auto clean = pca(rows.data(), rows.count, rows.dim);
    rows.values.insert(rows.values.begin() + 30, {1, notANumber, 1, -infinity, 2, 2});
    rows.count += 2;
    const auto map = pca(rows.data(), rows.count, rows.dim);
    QVERIFY(map.ok());
    QCOMPARE(map->skipped, 2);
    QCOMPARE(map->xy.size(), std::size_t(124));
    for (int i = 20; i < 24; ++i) QVERIFY(std::isnan(map->xy[i]));
    std::vector<float> rest = map->xy;
    rest.erase(rest.begin() + 20, rest.begin() + 24);
    for (std::size_t i = 0; i < rest.size(); ++i) QVERIFY(std::abs(rest[i] - clean->xy[i]) < 1e-4);
}

void TestProject::pcaOfDegenerateData_data()
{
    QTest::addColumn<std::vector<float>>("values");
    QTest::addColumn<int>("dim");
    QTest::newRow("no point") << std::vector<float>{} << 3;
    QTest::newRow("one point") << std::vector<float>{1, 2, 3} << 3;
    QTest::newRow("constant") << std::vector<float>(30, 0.1F) << 3;
    QTest::newRow("zero") << std::vector<float>(30, 0.0F) << 3;
    QTest::newRow("only NaN") << std::vector<float>(6, notANumber) << 3;
}

void TestProject::pcaOfDegenerateData()
{
    QFETCH(std::vector<float>, values);
    QFETCH(int, dim);
    const auto map = pca(values.data(), std::int64_t(values.size()) / dim, dim);
    QVERIFY(map.ok());
    QCOMPARE(map->xy.size(), values.size() / dim * 2);
    QCOMPARE(map->explained, (std::vector<double>{0, 0}));
    const bool finite = allFinite(values);
    for (const float v : map->xy) QVERIFY(finite ? v == 0 : std::isnan(v));
}

void TestProject::pcaHoldsAtTheEndsOfFloat()
{
    for (const float scale : {1e-30F, 1e37F}) {
        Rows rows = gaussian(50, {2, 1});
        const auto plain = pca(rows.data(), rows.count, rows.dim);
        for (float &v : rows.values) v *= scale;
        const auto map = pca(rows.data(), rows.count, rows.dim);
        QVERIFY(map.ok() && allFinite(map->xy));
        for (std::size_t i = 0; i < map->xy.size(); ++i) QVERIFY(std::abs(map->xy[i] / scale - plain->xy[i]) < 1e-3);
    }
    const std::vector<float> line{0, 1, 2, 3};
    const auto map = pca(line.data(), 4, 1);
    QCOMPARE(map->xy, (std::vector<float>{-1.5F, 0, -0.5F, 0, 0.5F, 0, 1.5F, 0}));
    QCOMPARE(map->explained, (std::vector<double>{1, 0}));
}

void TestProject::pcaOfFieldCases_data()
{
    QTest::addColumn<int>("distinct"); // places on the map there must be at least
    QTest::newRow("five_points_100_times") << 5;
    QTest::newRow("all_equal") << 1;
    QTest::newRow("one_constant_column") << 190;
    QTest::newRow("half_copies") << 140;
    QTest::newRow("islands") << 8;
    QTest::newRow("zero_rows") << 190;
    QTest::newRow("all_zero") << 1;
    QTest::newRow("tiny_row") << 50;
}

void TestProject::pcaOfFieldCases()
{
    QFETCH(int, distinct);
    const Rows rows = data(QTest::currentDataTag());
    QVERIFY(rows.count > 0);
    const auto map = pca(rows.data(), rows.count, rows.dim);
    QVERIFY(map.ok() && allFinite(map->xy));
    QCOMPARE(map->skipped, 0);
    QVERIFY(std::isfinite(map->explained[0]) && std::isfinite(map->explained[1]));
    std::set<std::pair<float, float>> places;
    for (std::size_t i = 0; i < map->xy.size(); i += 2) places.insert({map->xy[i], map->xy[i + 1]});
    QVERIFY2(int(places.size()) >= distinct, qPrintable(QString::number(places.size())));
    if (distinct == 1) QCOMPARE(places.size(), std::size_t(1));
}

void TestProject::copiesStayTogether()
{
    const Rows rows = data("five_points_100_times");
    const auto map = pca(rows.data(), rows.count, rows.dim);
    double within = 0, between = std::numeric_limits<double>::infinity();
    for (std::int64_t a = 0; a < rows.count; ++a)
        for (std::int64_t b = 0; b < a; ++b) {
            const bool copies = std::equal(rows.row(a), rows.row(a) + rows.dim, rows.row(b));
            if (copies)
                within = std::max(within, distance(map->xy, a, b));
            else
                between = std::min(between, distance(map->xy, a, b));
        }
    QVERIFY(within < between);
}

void TestProject::halfCopiesLeaveTheOthersSpread()
{
    const Rows rows = data("half_copies");
    const auto index = Neighbours::build(rows.data(), rows.count, rows.dim);
    QVERIFY(index.ok());
    QVERIFY(!index->allEqual());
    // More copies than neighbours asked for: a copy sees only copies, with score 1.
    std::int64_t copy = 0;
    while (!std::equal(rows.row(copy), rows.row(copy) + rows.dim, rows.row(copy + 1))) ++copy;
    const auto found = index->nearest(copy, 15);
    QCOMPARE(found.size(), std::size_t(15));
    for (const auto &n : found) QVERIFY(n.cosine > 0.999999F && n.cosine <= 1.0F && n.item != copy);
}

void TestProject::pcaIsCancelled_data()
{
    QTest::addColumn<int>("dim");
    QTest::newRow("narrow") << 8;
    QTest::newRow("wide") << 700;
}

void TestProject::pcaIsCancelled()
{
    QFETCH(int, dim);
    const Rows rows = gaussian(20, std::vector<double>(dim, 1.0));
    const std::atomic<bool> cancel = true, go = false;
    const auto map = pca(rows.data(), rows.count, rows.dim, &cancel);
    QVERIFY(!map.ok());
    QVERIFY(map.error().message().find("cancelled") != std::string::npos);
    QVERIFY(pca(rows.data(), rows.count, rows.dim, &go).ok());
}

void TestProject::neighboursAgreeWithANaiveSearch()
{
    const Rows rows = gaussian(80, {1, 2, 3, 1, 1});
    const auto index = Neighbours::build(rows.data(), rows.count, rows.dim);
    for (std::int64_t item = 0; item < rows.count; ++item) {
        std::vector<std::pair<double, std::int64_t>> naive;
        for (std::int64_t other = 0; other < rows.count; ++other)
            if (other != item) naive.emplace_back(-naiveCosine(rows, item, other), other);
        std::sort(naive.begin(), naive.end());
        const auto found = index->nearest(item, 7);
        QCOMPARE(found.size(), std::size_t(7));
        for (int k = 0; k < 7; ++k) {
            QCOMPARE(found[k].item, naive[k].second);
            QVERIFY(std::abs(found[k].cosine + naive[k].first) < 1e-5);
        }
        QVERIFY(found == neighbours(rows.data(), rows.count, rows.dim, item, 7));
    }
}

void TestProject::neighboursOfFewPoints()
{
    const Rows rows = gaussian(3, {1, 1});
    QCOMPARE(neighbours(rows.data(), 3, 2, 0, 10).size(), std::size_t(2));
    QVERIFY(neighbours(rows.data(), 1, 2, 0, 10).empty());
    QVERIFY(neighbours(rows.data(), 3, 2, 3, 10).empty());
    QVERIFY(neighbours(rows.data(), 3, 2, -1, 10).empty());
    QVERIFY(neighbours(rows.data(), 3, 2, 0, 0).empty());
}

void TestProject::equalScoresComeInOrder()
{
    const std::vector<float> rows{1, 0, 2, 0, 0, 1, 4, 0, 0.5, 0};
    const auto found = neighbours(rows.data(), 5, 2, 1, 4);
    QCOMPARE(found.size(), std::size_t(4));
    QVERIFY((found == std::vector<Neighbour>{{0, 1}, {3, 1}, {4, 1}, {2, 0}}));
}

void TestProject::zeroVectorsAreNobodysNeighbour()
{
    Rows rows = data("zero_rows");
    rows.values[7 * rows.dim] = notANumber;
    const auto index = Neighbours::build(rows.data(), rows.count, rows.dim);
    QCOMPARE(index->zeroRows(), 3);
    QCOMPARE(index->notFinite(), 1);
    for (std::int64_t item = 0; item < rows.count; ++item) {
        const bool undefined = item == 0 || item == 50 || item == 199 || item == 7;
        const auto found = index->nearest(item, 300);
        QCOMPARE(found.size(), undefined ? std::size_t(0) : std::size_t(195));
        for (const auto &n : found) {
            QVERIFY(n.item != 0 && n.item != 50 && n.item != 199 && n.item != 7 && n.item != item);
            QVERIFY(std::isfinite(n.cosine));
        }
    }
    const Rows zero = data("all_zero");
    const auto none = Neighbours::build(zero.data(), zero.count, zero.dim);
    QCOMPARE(none->zeroRows(), zero.count);
    QVERIFY(none->nearest(0, 10).empty());
}

void TestProject::tinyVectorsScoreWithinOne()
{
    const Rows rows = data("tiny_row");
    QVERIFY(rows.count > 0);
    const auto index = Neighbours::build(rows.data(), rows.count, rows.dim);
    for (std::int64_t item = 0; item < rows.count; ++item)
        for (const auto &n : index->nearest(item, int(rows.count))) {
            QVERIFY(n.cosine >= -1 && n.cosine <= 1);
            QVERIFY(std::abs(n.cosine - naiveCosine(rows, item, n.item)) < 1e-5);
        }
}

void TestProject::equalVectorsAreNamed()
{
    const Rows rows = data("all_equal");
    QVERIFY(Neighbours::build(rows.data(), rows.count, rows.dim)->allEqual());
    QVERIFY(!Neighbours::build(rows.data(), 1, rows.dim)->allEqual());
    const Rows other = data("islands");
    QVERIFY(!Neighbours::build(other.data(), other.count, other.dim)->allEqual());
}

void TestProject::neighboursAreCancelled()
{
    const Rows rows = gaussian(20, {1, 1});
    const std::atomic<bool> cancel = true;
    QVERIFY(!Neighbours::build(rows.data(), rows.count, rows.dim, &cancel).ok());
}

QTEST_GUILESS_MAIN(TestProject)
#include "tst_project.moc"
