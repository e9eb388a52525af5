// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/loader.h"

#include "tests/engine/data/datatest.h"

#include <QTest>

#include <condition_variable>
#include <numeric>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

std::vector<ViewSpec> twoViews()
{
    ViewSpec spec;
    spec.augment.size = 8;
    spec.augment.blurP = 0.5;
    ViewSpec other = spec;
    other.augment.size = 10;
    return {spec, other};
}

/// Every image's place in the data set and its views; a substitute is there once for each image it stands for.
using Views = std::set<std::pair<std::int64_t, std::vector<std::vector<float>>>>;

Views viewsOf(const Batch &batch)
{
    Views views;
    for (std::size_t i = 0; i < batch.index.size(); ++i) {
        std::vector<std::vector<float>> own;
        for (std::size_t v = 0; v < batch.views.size(); ++v) {
            const std::size_t n = 3 * std::size_t(batch.sizes[v] * batch.sizes[v]);
            const auto begin = batch.views[v].begin() + std::ptrdiff_t(i * n);
            own.emplace_back(begin, begin + std::ptrdiff_t(n));
        }
        views.emplace(batch.index[i], std::move(own));
    }
    return views;
}

std::vector<Batch> readAll(Loader &loader)
{
    std::vector<Batch> batches;
    for (;;) {
        auto next = loader.next();
        if (!next) qFatal("%s", next.error().message().c_str());
        if (!*next) return batches;
        batches.push_back(std::move(**next));
    }
}

Views readEpoch(const std::shared_ptr<const Dataset> &data, int threads, int world, std::int64_t epoch = 0,
                std::uint64_t seed = 1)
{
    Views views;
    for (int rank = 0; rank < world; ++rank) {
        Loader loader(data, twoViews(), rankBatches(permutation(data->size(), seed, epoch), 10, rank, world),
                      {seed, epoch, threads, 2});
        for (const auto &batch : readAll(loader)) views.merge(viewsOf(batch));
    }
    return views;
}

/// Images whose decoding waits until the gate is opened.
class GatedDataset : public MadeDataset
{
public:
    using MadeDataset::MadeDataset;
    Result<cv::Mat> image(std::int64_t index) const override
    {
        std::unique_lock lock(m_mutex);
        ++m_waiting;
        m_changed.notify_all();
        m_changed.wait(lock, [this] { return m_open; });
        return MadeDataset::image(index);
    }
    void open() const
    {
        std::lock_guard lock(m_mutex);
        m_open = true;
        m_changed.notify_all();
    }
    void awaitWaiting(int count) const
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_waiting >= count; });
    }

private:
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    mutable bool m_open = false;
    mutable int m_waiting = 0;
};

} // namespace

class TestLoader : public QObject
{
    Q_OBJECT

private slots:
    void permutationHoldsEachOnce()
    {
        auto order = permutation(1'000, 3, 0);
        QVERIFY(order != permutation(1'000, 3, 1));
        QVERIFY(order != permutation(1'000, 4, 0));
        QVERIFY(order == permutation(1'000, 3, 0));
        int inPlace = 0;
        for (std::size_t i = 0; i < order.size(); ++i) inPlace += order[i] == std::int64_t(i);
        QVERIFY(inPlace < 10);
        std::sort(order.begin(), order.end());
        for (std::size_t i = 0; i < order.size(); ++i) QCOMPARE(order[i], std::int64_t(i));
        QVERIFY(permutation(0, 1, 0).empty());
    }

    void everyRankHasAsManyBatches_data()
    {
        QTest::addColumn<int>("world");
        for (const int world : {1, 2, 3, 4, 50}) QTest::newRow(std::to_string(world).c_str()) << world;
    }
    void everyRankHasAsManyBatches()
    {
        QFETCH(int, world);
        const auto order = permutation(145, 1, 0);
        std::vector<std::vector<std::int64_t>> joined(3);
        for (int rank = 0; rank < world; ++rank) {
            const auto batches = rankBatches(order, 48, rank, world);
            QCOMPARE(batches.size(), std::size_t(3)); // the last image is dropped
            for (std::size_t g = 0; g < 3; ++g) {
                QVERIFY(std::abs(int(batches[g].size()) - 48 / world) <= 1);
                joined[g].insert(joined[g].end(), batches[g].begin(), batches[g].end());
            }
        }
        for (std::size_t g = 0; g < 3; ++g)
            QVERIFY(std::equal(joined[g].begin(), joined[g].end(), order.begin() + std::ptrdiff_t(g) * 48));
        QVERIFY(rankBatches(order, 146, 0, 1).empty());
        QVERIFY(rankBatches(order, 0, 0, 1).empty());
    }

    void batchesComeInOrder()
    {
        const auto data = std::make_shared<const MadeDataset>(40);
        const auto lists = rankBatches(permutation(40, 1, 0), 7, 0, 1);
        Loader loader(data, twoViews(), lists, {1, 0, 3, 2});
        const auto batches = readAll(loader);
        QCOMPARE(batches.size(), lists.size());
        for (std::size_t g = 0; g < lists.size(); ++g) {
            QVERIFY(batches[g].index == lists[g]);
            QCOMPARE(batches[g].count(), std::int64_t(7));
            QVERIFY(batches[g].sizes == (std::vector<int>{8, 10}));
            QCOMPARE(batches[g].views[1].size(), std::size_t(7 * 3 * 100));
            for (std::size_t i = 0; i < 7; ++i) QCOMPARE(batches[g].label[i], int(lists[g][i] % 2));
        }
        QVERIFY(!loader.next().value().has_value()); // asking again at the end is no error
        QVERIFY(loader.waited() >= 0);
    }

    void sameBytesForAnyThreadsAndRanks()
    {
        const auto data = std::make_shared<const MadeDataset>(40, std::set<std::int64_t>{3, 4, 39});
        const auto reference = readEpoch(data, 1, 1);
        QCOMPARE(reference.size(), std::size_t(40));
        for (const int threads : {1, 2, 5})
            for (const int world : {1, 2, 3}) QVERIFY(readEpoch(data, threads, world) == reference);
    }

    void viewsDifferBetweenEpochsSeedsSamplesAndViews()
    {
        const auto data = std::make_shared<const MadeDataset>(20);
        std::set<std::vector<float>> seen;
        std::size_t count = 0;
        for (const std::uint64_t seed : {1, 2})
            for (const std::int64_t epoch : {0, 1, 2})
                for (const auto &[index, views] : readEpoch(data, 2, 1, epoch, seed))
                    for (const auto &pixels : views) seen.insert(pixels), ++count;
        QCOMPARE(seen.size(), count);
        QCOMPARE(count, std::size_t(2 * 3 * 20 * 2));
    }

    void unreadableImagesAreReplacedAndReportedOnce()
    {
        const auto data = std::make_shared<const MadeDataset>(10, std::set<std::int64_t>{3, 4, 9});
        std::vector<std::int64_t> all(10);
        std::iota(all.begin(), all.end(), 0);
        const auto load = [&](std::int64_t epoch) {
            auto loader = std::make_unique<Loader>(data, twoViews(), std::vector<std::vector<std::int64_t>>{all},
                                                   Loader::Options{1, epoch, 2, 2});
            auto batches = readAll(*loader);
            return std::pair(std::move(batches.front()), loader->takeUnreadable());
        };
        const auto [batch, unreadable] = load(0);
        QVERIFY(batch.index == (std::vector<std::int64_t>{0, 1, 2, 5, 5, 5, 6, 7, 8, 0}));
        QVERIFY(batch.label == (std::vector<int>{0, 1, 0, 1, 1, 1, 0, 1, 0, 0}));
        QVERIFY(batch.replaced == (std::vector<std::uint8_t>{0, 0, 0, 1, 1, 0, 0, 0, 0, 1}));
        std::set<std::vector<float>> views;
        const std::size_t n = 3 * 8 * 8;
        for (std::size_t i = 0; i < 10; ++i)
            views.emplace(batch.views[0].begin() + std::ptrdiff_t(i * n),
                          batch.views[0].begin() + std::ptrdiff_t((i + 1) * n));
        QCOMPARE(views.size(), std::size_t(10)); // the same picture three times, in other views
        std::set<std::string> names;
        for (const auto &entry : unreadable) {
            names.insert(entry.name);
            QCOMPARE(entry.reason, std::string("made to fail"));
        }
        QVERIFY(names == (std::set<std::string>{"image-3", "image-4", "image-9"}));
        QCOMPARE(unreadable.size(), std::size_t(3));
        QVERIFY(load(1).second.empty());
    }

    void noReadableImageAtAll()
    {
        const auto data = std::make_shared<const MadeDataset>(3, std::set<std::int64_t>{0, 1, 2});
        Loader loader(data, twoViews(), {{0, 1, 2}}, {1, 0, 2, 2});
        const auto batch = loader.next();
        QVERIFY(!batch);
        QVERIFY2(batch.error().what.find("no image of made can be read") != std::string::npos, batch.error().what.c_str());
    }

    void madeAheadAtMostPrefetch()
    {
        const auto data = std::make_shared<const MadeDataset>(40);
        std::vector<std::vector<std::int64_t>> lists;
        for (std::int64_t i = 0; i < 40; i += 4) lists.push_back({i, i + 1, i + 2, i + 3});
        Loader loader(data, twoViews(), lists, {1, 0, 2, 3});
        (void)loader.next();
        const auto made = [&] {
            return std::accumulate(data->asked.begin(), data->asked.end(), 0,
                                   [](int sum, const auto &n) { return sum + n; });
        };
        QTRY_COMPARE(made(), 4 * (1 + 3)); // one taken, three ahead
        (void)loader.next();
        QTRY_COMPARE(made(), 4 * (2 + 3));
    }

    void usedMemoryIsFilledAgain()
    {
        const auto data = std::make_shared<const MadeDataset>(40);
        std::vector<std::vector<std::int64_t>> lists = rankBatches(permutation(40, 1, 0), 7, 0, 1);
        lists.push_back({3, 5}); // shorter than what is there
        Loader fresh(data, twoViews(), lists, {1, 0, 2, 1}), reusing(data, twoViews(), lists, {1, 0, 2, 1});
        std::set<const float *> places;
        Batch batch;
        for (const Batch &wanted : readAll(fresh)) {
            batch = *reusing.next(std::move(batch)).value();
            QVERIFY(batch.views == wanted.views);
            QVERIFY(batch.index == wanted.index);
            places.insert(batch.views[0].data());
        }
        QVERIFY2(places.size() <= 2, qPrintable(QString::number(places.size()))); // one in use, one ahead
        QVERIFY(!reusing.next(std::move(batch)).value());
    }

    void endsWhereverTheThreadsAre()
    {
        // Not one batch taken, all places full.
        {
            Loader loader(std::make_shared<const MadeDataset>(40), twoViews(), rankBatches(permutation(40, 1, 0), 4, 0, 1),
                          {1, 0, 3, 1});
        }
        // In the middle of decoding: the destructor waits for the image in work and no longer.
        const auto gated = std::make_shared<const GatedDataset>(40);
        std::thread opener;
        {
            Loader loader(gated, twoViews(), rankBatches(permutation(40, 1, 0), 20, 0, 1), {1, 0, 2, 2});
            gated->awaitWaiting(2);
            opener = std::thread([&] { gated->open(); });
        }
        opener.join();
        const int decoded =
            std::accumulate(gated->asked.begin(), gated->asked.end(), 0, [](int sum, const auto &n) { return sum + n; });
        QVERIFY(decoded <= 40);
        // Nothing to do at all.
        {
            Loader loader(std::make_shared<const MadeDataset>(4), twoViews(), {}, {1, 0, 2, 2});
            QVERIFY(!loader.next().value());
        }
    }

    void emptySlices()
    {
        Loader loader(std::make_shared<const MadeDataset>(4), twoViews(), {{}, {1}, {}}, {1, 0, 2, 2});
        const auto batches = readAll(loader);
        QCOMPARE(batches.size(), std::size_t(3));
        QCOMPARE(batches[0].count(), std::int64_t(0));
        QCOMPARE(batches[1].count(), std::int64_t(1));
    }

    void waitingIsMeasured()
    {
        const auto gated = std::make_shared<const GatedDataset>(8);
        Loader loader(gated, twoViews(), {{0, 1}}, {1, 0, 1, 1});
        gated->awaitWaiting(1);
        std::thread opener([&] { gated->open(); });
        QVERIFY(loader.next().value().has_value());
        opener.join();
        QVERIFY(loader.waited() > 0);
    }
};

QTEST_GUILESS_MAIN(TestLoader)
#include "tst_loader.moc"
