// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/align.h"
#include "core/embedding/mapstore.h"

#include "core/base/atomicfile.h"
#include "core/runs/safetensors.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>
#include <random>
#include <set>

using namespace parallax::embedding;

namespace {

constexpr float nowhere = std::numeric_limits<float>::quiet_NaN();

/// Row i lies around place i % 5.
std::vector<float> clusters(std::int64_t count, std::int64_t dim, unsigned seed = 5)
{
    std::mt19937 places(3), noise(seed);
    std::normal_distribution<float> normal;
    std::vector<float> centres, rows;
    for (std::int64_t i = 0; i < 5 * dim; ++i) centres.push_back(normal(places));
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t d = 0; d < dim; ++d) rows.push_back(centres[std::size_t(i % 5 * dim + d)] + 0.3F * normal(noise));
    return rows;
}

bool same(const std::vector<float> &a, const std::vector<float> &b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

/// Root mean square distance of the rows that are on both, by the size of b.
double apart(const std::vector<float> &a, const std::vector<float> &b)
{
    double x = 0, y = 0, n = 0, size = 0, distance = 0;
    for (std::size_t i = 0; i < b.size(); i += 2)
        if (std::isfinite(a[i]) && std::isfinite(b[i])) {
            ++n;
            x += b[i];
            y += b[i + 1];
        }
    for (std::size_t i = 0; i < b.size(); i += 2)
        if (std::isfinite(a[i]) && std::isfinite(b[i])) {
            size += std::pow(b[i] - x / n, 2) + std::pow(b[i + 1] - y / n, 2);
            distance += std::pow(a[i] - b[i], 2) + std::pow(a[i + 1] - b[i + 1], 2);
        }
    return std::sqrt(distance / size);
}

} // namespace

class TestMapStore : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_recipe = {};
        m_recipe.epochs = 60;
    }
    void recipesNameWhatTheyDependOn();
    void similaritiesAreUndone_data();
    void similaritiesAreUndone();
    void alignmentIsTheBestOfAll();
    void alignmentOfLittle();
    void whatIsWrittenIsRead();
    void damagedFilesAreNotRead_data();
    void damagedFilesAreNotRead();
    void otherVectorsHaveNoMap();
    void aStoredMapIsNotDrawnAgain();
    void epochsAreAlignedByItem();
    void laterEpochsOnlyAlign();
    void aMapThatCannotBeStoredIsShown();
    void componentsAreStoredAsTheyAre();

private:
    /// embeddings/epoch-N of the test's run.
    Store store(int epoch, const std::vector<float> &vectors, std::int64_t dim, std::uint64_t firstId = 100)
    {
        const std::int64_t count = std::int64_t(vectors.size()) / dim;
        std::vector<Item> items;
        for (std::int64_t i = 0; i < count; ++i) items.push_back({firstId + std::uint64_t(i), "image", 0, "train"});
        Meta meta;
        meta.count = count;
        meta.dim = dim;
        meta.epoch = epoch;
        const auto folder =
            std::filesystem::path(m_dir->path().toStdString()) / "run" / "embeddings" / ("epoch-" + std::to_string(epoch));
        if (const auto written = writeStore(folder, meta, items, vectors.data()); !written)
            qFatal("%s", written.error().message().c_str());
        return *Store::open(folder);
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    MapRecipe m_recipe;
};

void TestMapStore::recipesNameWhatTheyDependOn()
{
    QCOMPARE(mapMethod("umap"), MapMethod::Umap);
    QVERIFY(!mapMethod("UMAP 2"));
    std::set<std::string> texts{MapRecipe{}.text()};
    const auto differs = [&](auto change) {
        MapRecipe recipe;
        change(recipe);
        return texts.insert(recipe.text()).second;
    };
    QVERIFY(differs([](MapRecipe &r) { r.method = MapMethod::Pca; }));
    QVERIFY(differs([](MapRecipe &r) { r.metric = Metric::Euclidean; }));
    QVERIFY(differs([](MapRecipe &r) { r.seed = 2; }));
    QVERIFY(differs([](MapRecipe &r) { r.epochs = 9; }));
    QVERIFY(differs([](MapRecipe &r) { r.neighbours = 9; }));
    QVERIFY(differs([](MapRecipe &r) { r.minDist = 0.25; }));
    MapRecipe a{.method = MapMethod::Pca}, b{.method = MapMethod::Pca, .seed = 7}; // no part in principal components
    QCOMPARE(a.text(), b.text());
}

void TestMapStore::similaritiesAreUndone_data()
{
    QTest::addColumn<double>("degrees");
    QTest::addColumn<bool>("mirrored");
    for (const double degrees : {0.0, 30.0, 90.0, 180.0, -77.0})
        for (const bool mirrored : {false, true})
            QTest::addRow("%g%s", degrees, mirrored ? " mirrored" : "") << degrees << mirrored;
}

void TestMapStore::similaritiesAreUndone()
{
    QFETCH(double, degrees);
    QFETCH(bool, mirrored);
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    std::vector<float> onto;
    for (int i = 0; i < 80; ++i) onto.push_back(normal(generator) * (i % 2 ? 1 : 4));
    std::vector<float> xy;
    const double turn = degrees * std::acos(-1) / 180, c = 0.2 * std::cos(turn), s = 0.2 * std::sin(turn);
    for (std::size_t i = 0; i < onto.size(); i += 2) {
        const double x = onto[i], y = mirrored ? -onto[i + 1] : onto[i + 1];
        xy.push_back(float(c * x - s * y + 50));
        xy.push_back(float(s * x + c * y - 7));
    }
    xy[0] = xy[1] = nowhere; // a row that only one map shows plays no part
    onto[6] = onto[7] = nowhere;
    const Similarity found = alignment(xy, onto);
    QCOMPARE(found.mirrored, mirrored);
    found.apply(xy);
    QVERIFY(std::isnan(xy[0]) && std::isfinite(xy[6]));
    QVERIFY2(apart(xy, onto) < 1e-5, qPrintable(QString::number(apart(xy, onto))));
}

void TestMapStore::alignmentIsTheBestOfAll()
{
    // Against a search over all turns, mirrored or not, of maps that agree only in part.
    std::mt19937 generator(4);
    std::normal_distribution<float> normal;
    std::vector<float> a, b;
    for (int i = 0; i < 60; ++i) {
        a.push_back(normal(generator));
        b.push_back(i % 2 ? -a.back() + normal(generator) : a.back() + normal(generator));
    }
    std::vector<float> best = a;
    const Similarity found = alignment(a, b);
    found.apply(best);
    const double scale = std::hypot(found.factorX, found.factorY);
    double searched = 1e9;
    for (int step = 0; step < 720; ++step) {
        Similarity other = found;
        other.mirrored = step % 2 == 0;
        other.factorX = scale * std::cos(step * std::acos(-1) / 360);
        other.factorY = scale * std::sin(step * std::acos(-1) / 360);
        std::vector<float> moved = a;
        other.apply(moved);
        searched = std::min(searched, apart(moved, b));
    }
    QVERIFY(apart(best, b) <= searched + 1e-6);
    QVERIFY(apart(best, b) > 0.5); // not by chance a perfect one
    double size = 0, wanted = 0, mean[4]{};
    for (std::size_t i = 0; i < a.size(); ++i) {
        mean[i % 2] += best[i] / 30;
        mean[2 + i % 2] += b[i] / 30;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        size += std::pow(best[i] - mean[i % 2], 2);
        wanted += std::pow(b[i] - mean[2 + i % 2], 2);
    }
    QVERIFY(std::abs(size / wanted - 1) < 1e-5); // does not shrink
}

void TestMapStore::alignmentOfLittle()
{
    std::vector<float> xy{1, 2, 3, 4}, none{nowhere, nowhere, nowhere, nowhere};
    alignment(xy, none).apply(xy);
    QVERIFY((xy == std::vector<float>{1, 2, 3, 4}));
    alignment(xy, {5, 5, nowhere, nowhere}).apply(xy); // one place: shifted
    QVERIFY((xy == std::vector<float>{5, 5, 7, 7}));
    alignment(xy, {0, 0, 0, 0}).apply(xy); // no direction on the other map: the size stays
    QVERIFY((xy == std::vector<float>{-1, -1, 1, 1}));
    std::vector<float> empty;
    alignment(empty, {}).apply(empty);
    QVERIFY(empty.empty());
}

void TestMapStore::whatIsWrittenIsRead()
{
    const Store three = store(3, {1, 2, 3, 4, 5, 6}, 2);
    QVERIFY(!readMap(three, m_recipe));
    const Projection map{{1, 2, nowhere, nowhere, 1e-30F, 6}, {0.75, 0.1}, 1};
    QVERIFY(writeMap(three, m_recipe, map).ok());
    const auto read = readMap(three, m_recipe);
    QVERIFY(read.has_value());
    QVERIFY(same(read->xy, map.xy));
    QVERIFY(read->explained == map.explained);
    QCOMPARE(read->skipped, 1);
    QVERIFY(Store::open(three.folder()).ok()); // the store does not mind
    MapRecipe other = m_recipe;
    other.seed = 2;
    QVERIFY(!readMap(three, other));
    QVERIFY(!writeMap(three, m_recipe, {{1, 2}, {}, 0}).ok());
    const Store empty = store(4, {}, 2);
    QVERIFY(writeMap(empty, m_recipe, {}).ok());
    QVERIFY(readMap(empty, m_recipe).has_value());
}

void TestMapStore::damagedFilesAreNotRead_data()
{
    QTest::addColumn<QString>("damage");
    for (const char *name : {"cut", "empty", "not a container", "other format", "other recipe", "too few places",
                             "infinite place", "half a place", "no positions", "doubles"})
        QTest::newRow(name) << QString(name);
}

void TestMapStore::damagedFilesAreNotRead()
{
    QFETCH(QString, damage);
    const Store three = store(3, {1, 2, 3, 4, 5, 6}, 2);
    const auto path = mapFile(three.folder(), m_recipe);
    QVERIFY(writeMap(three, m_recipe, {{1, 2, 3, 4, 5, 6}, {}, 0}).ok());
    const auto whole = parallax::readFile(path);
    auto metadata = parallax::runs::SafetensorsFile::open(path)->metadata();
    std::vector<float> xy{1, 2, 3, 4, 5, 6};
    parallax::runs::TensorView tensor{"positions", "F32", {3, 2}, xy.data()};
    const std::vector<double> doubles(6);
    if (damage == "other format") metadata["format"] = "2";
    if (damage == "other recipe") metadata["recipe"] = "{}";
    if (damage == "too few places") tensor.shape = {2, 2};
    if (damage == "infinite place") xy[3] = std::numeric_limits<float>::infinity();
    if (damage == "half a place") xy[3] = nowhere;
    if (damage == "no positions") tensor.name = "places";
    if (damage == "doubles") tensor = {"positions", "F64", {3, 2}, doubles.data()};
    if (damage == "cut")
        QVERIFY(parallax::writeFileAtomic(path, whole->substr(0, whole->size() - 3)).ok());
    else if (damage == "empty" || damage == "not a container")
        QVERIFY(parallax::writeFileAtomic(path, damage == "empty" ? "" : "<html>").ok());
    else
        QVERIFY(parallax::runs::writeSafetensors(path, {tensor}, metadata).ok());
    QVERIFY(!readMap(three, m_recipe));
    const auto drawn = epochMap(three, m_recipe);
    QVERIFY(drawn.ok() && !drawn->wasStored && drawn->stored.ok());
    QVERIFY(readMap(three, m_recipe).has_value());
}

void TestMapStore::otherVectorsHaveNoMap()
{
    const Store first = store(3, {1, 2, 3, 4, 5, 6}, 2);
    QVERIFY(writeMap(first, m_recipe, {{1, 2, 3, 4, 5, 6}, {}, 0}).ok());
    QVERIFY(!readMap(store(3, {1, 2, 3, 4, 5, 7}, 2), m_recipe));
    QVERIFY(!readMap(store(3, {1, 2, 3, 4, 5, 6}, 1), m_recipe));
    QVERIFY(readMap(store(3, {1, 2, 3, 4, 5, 6}, 2), m_recipe).has_value());
}

void TestMapStore::aStoredMapIsNotDrawnAgain()
{
    const Store one = store(1, clusters(100, 6), 6);
    int calls = 0;
    MapWork work;
    work.watch = [&](double, const std::vector<float> &) { ++calls; };
    const auto drawn = epochMap(one, m_recipe, work);
    QVERIFY(drawn.ok() && !drawn->wasStored && drawn->stored.ok() && !drawn->alignedTo);
    QVERIFY(calls > 0);
    calls = 0;
    const auto again = epochMap(one, m_recipe, work);
    QVERIFY(again->wasStored);
    QCOMPARE(calls, 0);
    QVERIFY(same(again->map.xy, drawn->map.xy));
    const std::atomic<bool> cancel = true;
    m_recipe.seed = 2;
    work.cancel = &cancel;
    QVERIFY(!epochMap(one, m_recipe, work).ok());
    QVERIFY(!std::filesystem::exists(mapFile(one.folder(), m_recipe)));
}

void TestMapStore::epochsAreAlignedByItem()
{
    // Epoch 4 has other vectors of the same images, 20 rows later, and one image that epoch 2 lacks.
    const auto vectors = clusters(141, 6);
    auto moved = clusters(141, 6, 8);
    const Store one = store(1, clusters(121, 6, 9), 6), two = store(2, {vectors.begin(), vectors.end() - 120}, 6);
    const Store four = store(4, {moved.begin() + 120, moved.end()}, 6, 120);
    QVERIFY(epochMap(one, m_recipe).ok());
    const auto second = epochMap(two, m_recipe);
    QCOMPARE(second->alignedTo, 1);
    std::vector<float> last;
    MapWork work;
    work.watch = [&](double, const std::vector<float> &xy) { last = xy; };
    const auto map = epochMap(four, m_recipe, work);
    QCOMPARE(map->alignedTo, 2);
    QVERIFY(same(last, map->map.xy));
    const auto other = nearestMap(four, m_recipe);
    QCOMPARE(other->epoch, 2);
    for (std::size_t i = 0; i < 101; ++i) QCOMPARE(other->xy[i * 2], second->map.xy[(i + 20) * 2]); // by id
    QVERIFY(std::isnan(other->xy[101 * 2]));
    std::vector<float> best = map->map.xy; // nothing is left to turn
    const Similarity rest = alignment(best, other->xy);
    QVERIFY(!rest.mirrored && std::abs(rest.factorX - 1) < 1e-4 && std::abs(rest.factorY) < 1e-4);
    QVERIFY2(apart(map->map.xy, other->xy) < 0.4, qPrintable(QString::number(apart(map->map.xy, other->xy))));
    m_recipe.seed = 2;
    QVERIFY(!nearestMap(four, m_recipe));
}

void TestMapStore::laterEpochsOnlyAlign()
{
    const Store one = store(1, clusters(100, 6), 6), five = store(5, clusters(100, 6, 9), 6),
                nine = store(9, clusters(100, 6, 10), 6);
    QVERIFY(epochMap(nine, m_recipe).ok());
    const auto fifth = epochMap(five, m_recipe);
    const auto first = epochMap(one, m_recipe);
    QCOMPARE(first->alignedTo, 5);
    auto alone = drawMap(one.vectors(), 100, 6, m_recipe)->xy; // the same map as without the other, but for its place
    alignment(alone, fifth->map.xy).apply(alone);
    QVERIFY(same(alone, first->map.xy));
}

void TestMapStore::aMapThatCannotBeStoredIsShown()
{
    const Store one = store(1, clusters(60, 6), 6);
    std::filesystem::create_directories(mapFile(one.folder(), m_recipe) / "in the way");
    const auto map = epochMap(one, m_recipe);
    QVERIFY(map.ok());
    QCOMPARE(map->map.xy.size(), std::size_t(120));
    QVERIFY(!map->stored.ok());
}

void TestMapStore::componentsAreStoredAsTheyAre()
{
    m_recipe.method = MapMethod::Pca;
    const Store one = store(1, clusters(60, 6), 6), two = store(2, clusters(60, 6, 7), 6);
    QVERIFY(epochMap(one, m_recipe).ok());
    const auto map = epochMap(two, m_recipe);
    QVERIFY(!map->alignedTo);
    const auto plain = pca(two.vectors(), 60, 6);
    QVERIFY(same(map->map.xy, plain->xy));
    QVERIFY(epochMap(two, m_recipe)->wasStored);
    QVERIFY(epochMap(two, m_recipe)->map.explained == plain->explained);
}

QTEST_GUILESS_MAIN(TestMapStore)
#include "tst_mapstore.moc"
