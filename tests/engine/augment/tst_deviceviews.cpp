// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/augment/deviceviews.h"
#include "core/engine/augment/feed.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

#include <numeric>

using namespace parallax;
using namespace parallax::data::test;

namespace {

/// Pictures of the given sizes, in memory.
class Pictures : public data::Dataset
{
public:
    explicit Pictures(const std::vector<cv::Size> &sizes)
    {
        for (const auto &size : sizes) m_images.push_back(pattern(size.width, size.height, int(m_images.size())));
    }
    std::int64_t size() const override { return std::int64_t(m_images.size()); }
    data::Item item(std::int64_t index) const override { return {std::uint64_t(index) + 7, std::to_string(index), 0}; }
    Result<cv::Mat> image(std::int64_t index) const override
    {
        if (broken == index) return Error{"is broken", std::to_string(index), {}};
        return m_images[std::size_t(index)];
    }
    Result<data::DecodedImage> inspect(std::int64_t) const override { return Error{"not asked for", {}, {}}; }

    std::int64_t broken = -1;

private:
    std::vector<cv::Mat> m_images;
};

data::AugmentConfig everything(int size, const std::string &interpolation)
{
    data::AugmentConfig augment;
    augment.size = size;
    augment.interpolation = interpolation;
    augment.grayP = 0.3;
    augment.blurP = 0.6;
    augment.solarizeP = 0.4;
    return augment;
}

/// Batches as loader threads make them, and as the device does.
std::vector<std::vector<torch::Tensor>> viewsOf(const std::shared_ptr<Pictures> &pictures, bool drawOnly, bool ahead,
                                                const std::vector<data::ViewSpec> &specs)
{
    std::vector<std::int64_t> order(std::size_t(pictures->size()));
    std::iota(order.begin(), order.end(), 0);
    data::Loader loader(pictures, specs, data::rankBatches(order, 6, 0, 1),
                        {.seed = 3, .epoch = 2, .threads = 2, .drawOnly = drawOnly});
    augment::Feed feed(loader, specs, {.ahead = ahead, .drawOnly = drawOnly});
    std::vector<std::vector<torch::Tensor>> batches;
    for (auto batch = feed.next(); batch && batch.value(); batch = feed.next())
        batches.push_back(std::move(batch.value()->views));
    return batches;
}

const std::vector<cv::Size> sizes{{32, 32}, {32, 32}, {97, 61}, {40, 200}, {5, 9},   {64, 64},
                                  {1, 1},   {300, 3}, {33, 47}, {28, 28},  {80, 80}, {120, 90}};

} // namespace

class TestDeviceViews : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aDeviceMakesTheViewsOfLoaderThreads_data()
    {
        QTest::addColumn<QString>("interpolation");
        QTest::addColumn<bool>("ahead");
        QTest::newRow("bilinear") << "bilinear" << false;
        QTest::newRow("bicubic") << "bicubic" << false;
        QTest::newRow("ahead") << "bilinear" << true;
    }
    void aDeviceMakesTheViewsOfLoaderThreads()
    {
        QFETCH(QString, interpolation);
        QFETCH(bool, ahead);
        const auto pictures = std::make_shared<Pictures>(sizes);
        const std::vector<data::ViewSpec> specs{{everything(32, interpolation.toStdString())},
                                                {everything(15, interpolation.toStdString())}};
        const auto want = viewsOf(pictures, false, false, specs), got = viewsOf(pictures, true, ahead, specs);
        QCOMPARE(want.size(), std::size_t(2));
        QCOMPARE(got.size(), want.size());
        for (std::size_t b = 0; b < want.size(); ++b)
            for (std::size_t v = 0; v < specs.size(); ++v) {
                QVERIFY(got[b][v].sizes() == want[b][v].sizes());
                const torch::Tensor gap = (got[b][v] - want[b][v]).abs();
                // Rounding decides between the sides of a threshold in a few pixels.
                const double off = (gap > 2e-3).to(torch::kFloat64).mean().item<double>();
                QVERIFY2(off < 2e-3,
                         qPrintable(QStringLiteral("batch %1, view %2: %3 of the pixels").arg(b).arg(v).arg(off)));
                QVERIFY(gap.median().item<double>() < 1e-4);
            }
    }

    void copiesAreTheLoadersOwnBytes()
    {
        const auto pictures = std::make_shared<Pictures>(sizes);
        const std::vector<data::ViewSpec> specs{{everything(16, "bilinear")}};
        const auto plain = viewsOf(pictures, false, false, specs), ahead = viewsOf(pictures, false, true, specs);
        QCOMPARE(ahead.size(), plain.size());
        for (std::size_t b = 0; b < plain.size(); ++b) QVERIFY(torch::equal(ahead[b][0], plain[b][0]));
    }

    void anUnreadableImagesPlaceIsTaken()
    {
        const auto pictures = std::make_shared<Pictures>(sizes);
        pictures->broken = 2;
        const std::vector<data::ViewSpec> specs{{everything(16, "bilinear")}};
        const auto want = viewsOf(pictures, false, false, specs), got = viewsOf(pictures, true, false, specs);
        QVERIFY((got[0][0][2] - want[0][0][2]).abs().median().item<double>() < 1e-4);
    }

    void theLoadersErrorIsTold()
    {
        const auto pictures = std::make_shared<Pictures>(std::vector<cv::Size>{{8, 8}});
        pictures->broken = 0;
        const std::vector<data::ViewSpec> specs{{everything(16, "bilinear")}};
        for (const bool ahead : {false, true}) {
            data::Loader loader(pictures, specs, {{0}}, {.drawOnly = true});
            augment::Feed feed(loader, specs, {.ahead = ahead, .drawOnly = true});
            QVERIFY(!feed.next());
            QVERIFY(!feed.next());
        }
    }

    void aFeedThatIsLeftEarlyEnds()
    {
        const auto pictures = std::make_shared<Pictures>(sizes);
        const std::vector<data::ViewSpec> specs{{everything(16, "bilinear")}};
        data::Loader loader(pictures, specs, std::vector<std::vector<std::int64_t>>(100, {0, 1, 2}), {});
        augment::Feed feed(loader, specs, {.ahead = true});
        QVERIFY(feed.next().value().has_value());
    }
};

QTEST_GUILESS_MAIN(TestDeviceViews)
#include "tst_deviceviews.moc"
