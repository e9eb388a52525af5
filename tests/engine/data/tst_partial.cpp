// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Decoding only what views look at: the same pixels, the same refusals, the same views with and without kept images.
#include "core/engine/data/decode.h"
#include "core/engine/data/keptdataset.h"
#include "core/engine/data/source.h"
#include "core/engine/data/view.h"
#include "tests/engine/data/datatest.h"

#include <opencv2/imgproc.hpp>

#include <QTest>

#include <cstdio>
#include <random>

#include <jpeglib.h>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

/// How a JPEG file is made: the sampling of its first component, and what follows the picture's data.
struct Making {
    int across = 2, down = 2;
    J_COLOR_SPACE colours = JCS_RGB;
    bool progressive = false;
    int restart = 0; ///< rows of blocks
};

std::string jpeg(const cv::Mat &pixels, const Making &making)
{
    jpeg_compress_struct codec;
    jpeg_error_mgr errors;
    codec.err = jpeg_std_error(&errors);
    jpeg_create_compress(&codec);
    unsigned char *bytes = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&codec, &bytes, &size);
    codec.image_width = JDIMENSION(pixels.cols);
    codec.image_height = JDIMENSION(pixels.rows);
    codec.input_components = pixels.channels();
    codec.in_color_space = making.colours;
    jpeg_set_defaults(&codec);
    jpeg_set_quality(&codec, 90, TRUE);
    codec.comp_info[0].h_samp_factor = making.across;
    codec.comp_info[0].v_samp_factor = making.down;
    codec.restart_in_rows = making.restart;
    if (making.progressive) jpeg_simple_progression(&codec);
    jpeg_start_compress(&codec, TRUE);
    while (codec.next_scanline < codec.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(pixels.ptr(int(codec.next_scanline)));
        jpeg_write_scanlines(&codec, &row, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    std::string result(reinterpret_cast<char *>(bytes), size);
    std::free(bytes);
    return result;
}

cv::Mat busy(int width, int height, int channels, std::uint64_t seed = 1)
{
    cv::Mat small(height / 5 + 2, width / 5 + 2, CV_8UC(channels)), large;
    cv::RNG rng(seed);
    rng.fill(small, cv::RNG::UNIFORM, 0, 256);
    cv::resize(small, large, {width, height}, 0, 0, cv::INTER_CUBIC);
    return large;
}

cv::Rect drawRegion(const cv::Size &size, std::mt19937 &random)
{
    const auto below = [&](int count) { return int(random() % unsigned(count)); };
    const int x = below(size.width), y = below(size.height);
    return {x, y, 1 + below(size.width - x), 1 + below(size.height - y)};
}

DemandFor demanding(int shrink, const cv::Rect &region)
{
    return [=](const cv::Size &) { return Demand{shrink, region}; };
}

cv::Size divided(const cv::Size &size, int by) { return {(size.width + by - 1) / by, (size.height + by - 1) / by}; }

bool equal(const cv::Mat &a, const cv::Mat &b) { return a.size() == b.size() && cv::norm(a, b, cv::NORM_INF) == 0; }

/// A folder of JPEG files.
struct Files {
    QTemporaryDir folder;
    explicit Files(const std::vector<cv::Size> &sizes)
    {
        for (std::size_t i = 0; i < sizes.size(); ++i)
            writeFileTo(folder.filePath(QString("%1.jpg").arg(i)),
                        jpeg(busy(sizes[i].width, sizes[i].height, 3, i + 1), {}));
    }
    std::shared_ptr<const Dataset> open() const { return openFolder(folder.path().toStdString())->train; }
};

std::vector<ViewSpec> twoViews(int size)
{
    ViewSpec spec;
    spec.augment.size = size;
    spec.augment.cropMin = 0.2;
    return {spec, spec};
}

using Pixels = std::vector<std::vector<float>>;

/// The views of all images, epoch after epoch.
std::vector<Pixels> epochs(const std::shared_ptr<const Dataset> &data, const std::vector<ViewSpec> &views, int threads)
{
    std::vector<Pixels> result;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        std::vector<std::int64_t> all;
        for (std::int64_t i = 0; i < data->size(); ++i) all.push_back(i);
        Loader loader(data, views, {all}, {1, epoch, threads, 1});
        result.push_back(loader.next().value()->views);
    }
    return result;
}

} // namespace

class Partial : public QObject
{
    Q_OBJECT

private slots:
    void partsEqualTheWhole_data()
    {
        QTest::addColumn<Making>("making");
        QTest::newRow("4:2:0") << Making{};
        QTest::newRow("4:4:4") << Making{1, 1};
        QTest::newRow("4:2:2") << Making{2, 1};
        QTest::newRow("4:4:0") << Making{1, 2};
        QTest::newRow("4:1:1") << Making{4, 1};
        QTest::newRow("4:1:0") << Making{4, 2};
        QTest::newRow("gray") << Making{1, 1, JCS_GRAYSCALE};
        QTest::newRow("CMYK") << Making{1, 1, JCS_CMYK};
        QTest::newRow("restarts") << Making{.restart = 1};
        QTest::newRow("progressive") << Making{.progressive = true};
        QTest::newRow("progressive 4:2:2") << Making{2, 1, JCS_RGB, true, 2};
    }
    void partsEqualTheWhole()
    {
        QFETCH(Making, making);
        const int channels = making.colours == JCS_GRAYSCALE ? 1 : making.colours == JCS_CMYK ? 4 : 3;
        std::mt19937 random(1);
        for (const cv::Size size : {cv::Size(203, 151), cv::Size(640, 427), cv::Size(16, 300), cv::Size(7, 5)}) {
            const std::string file = jpeg(busy(size.width, size.height, channels), making);
            for (const int shrink : {1, 2, 4, 8}) {
                const cv::Size small = divided(size, shrink);
                const auto whole = decodeImage(span(file), demanding(shrink, {{}, small}));
                QVERIFY(whole.ok());
                QVERIFY(whole->rgb.size() == small);
                if (shrink == 1) QVERIFY(equal(whole->rgb, decodeImage(span(file))->rgb));
                for (int i = 0; i < 8; ++i) {
                    const cv::Rect region = drawRegion(small, random);
                    const auto part = decodeImage(span(file), demanding(shrink, region));
                    QVERIFY(part.ok());
                    QVERIFY2(equal(part->rgb(region), whole->rgb(region)),
                             qPrintable(QString("1/%1: %2 x %3 at %4, %5")
                                            .arg(shrink)
                                            .arg(region.width)
                                            .arg(region.height)
                                            .arg(region.x)
                                            .arg(region.y)));
                }
            }
        }
    }

    /// A picture that lies on its side is decoded whole, and shrunk all the same.
    void turnedPictures()
    {
        std::string file = jpeg(busy(96, 64, 3), {});
        const char exif[] = "\xFF\xE1\0\x22"
                            "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        file.insert(2, exif, sizeof exif - 1);
        const auto whole = decodeImage(span(file));
        QVERIFY(whole.ok());
        QCOMPARE(whole->header.orientation, 6);
        cv::Size asked;
        const cv::Rect region(3, 40, 20, 30);
        const auto part = decodeImage(span(file), [&](const cv::Size &stored) {
            asked = stored;
            return Demand{1, region};
        });
        QVERIFY(asked == cv::Size(64, 96));
        QVERIFY(equal(part->rgb(region), whole->rgb(region)));
        const auto half = decodeImage(span(file), demanding(2, {0, 0, 32, 48}));
        QVERIFY(half->rgb.size() == cv::Size(32, 48));
    }

    /// Broken data are found whatever part is wanted.
    void damageIsFound_data()
    {
        QTest::addColumn<Making>("making");
        QTest::newRow("baseline") << Making{};
        QTest::newRow("restarts") << Making{.restart = 1};
        QTest::newRow("progressive") << Making{.progressive = true};
    }
    void damageIsFound()
    {
        QFETCH(Making, making);
        const std::string file = jpeg(busy(320, 240, 3), making);
        std::mt19937 random(2);
        int refused = 0;
        for (int i = 0; i < 60; ++i) {
            std::string broken = file;
            const std::size_t place = 700 + random() % (file.size() - 1200);
            if (i % 2) // no 0xFF: a marker would be seen in the header
                for (std::size_t k = 0; k < 1 + random() % 40; ++k) broken[place + k] = char(random() % 255);
            else
                broken.erase(place, 1 + random() % 400);
            const bool whole = decodeImage(span(broken)).ok();
            refused += !whole;
            for (const int shrink : {1, 2, 8})
                for (const cv::Rect &part : {cv::Rect(0, 0, 5, 5), cv::Rect(10, 8, 20, 6), cv::Rect(30, 25, 4, 4)})
                    QCOMPARE(decodeImage(span(broken), demanding(shrink, part)).ok(), whole);
        }
        QVERIFY2(refused > 5, qPrintable(QString::number(refused)));
        for (const double share : {0.3, 0.6, 0.95}) {
            const std::string cut = file.substr(0, std::size_t(double(file.size()) * share));
            QVERIFY(!decodeImage(span(cut), demanding(1, {0, 0, 5, 5})).ok());
        }
    }

    void shrinkingFollowsFromSizeAndSettings()
    {
        auto views = twoViews(32); // the smallest crop has a side of √(0.2 · ¾ · area)
        QVERIFY(isSmall({590, 590}));
        QCOMPARE(wholeFor(views, {590, 590}).shrink, 1); // small ones are kept as they are
        QCOMPARE(wholeFor(views, {640, 640}).shrink, 4); // 248
        QVERIFY(wholeFor(views, {641, 639}).region == cv::Rect(0, 0, 161, 160));
        QCOMPARE(wholeFor(views, {700, 700}).shrink, 8); // 271
        views[1].augment.size = 224;
        QCOMPARE(wholeFor(views, {1200, 1000}).shrink, 1);
        QCOMPARE(wholeFor(views, {1200, 1200}).shrink, 2);  // 465
        QCOMPARE(wholeFor(views, {60'000, 100}).shrink, 1); // no crop is higher than the picture
        const ViewSpec centre{views[1].augment, false};
        QCOMPARE(wholeFor({centre}, {1200, 1000}).shrink, 4);
        QCOMPARE(wholeFor({centre, views[0]}, {1200, 1000}).shrink, 4);
        QVERIFY(demandOf({centre, views[0]}, {}, {1200, 1000}).region == cv::Rect(0, 0, 300, 250));
    }

    void theDemandHoldsEveryCrop()
    {
        const auto views = twoViews(32);
        for (std::uint64_t sample = 0; sample < 50; ++sample) {
            const Demand demand = demandOf(views, {1, 0, sample, 0}, {1000, 800});
            const cv::Size size = wholeFor(views, {1000, 800}).region.size();
            cv::Rect both;
            for (int v = 0; v < 2; ++v)
                both |= drawCrop(size, views[0].augment, Random({1, 0, sample, v}, Random::Purpose::Crop));
            QVERIFY(demand.region == both);
        }
    }

    /// Whether images are kept, in how many threads views are made and what else is looked at changes no byte.
    void keptOrNot()
    {
        const Files files({{400, 300}, {1300, 900}, {64, 500}, {900, 1300}});
        const auto views = twoViews(48);
        const auto wanted = epochs(files.open(), views, 1);
        for (const std::int64_t budget : {std::int64_t(0), std::int64_t(400'000), std::int64_t(1) << 40})
            for (const int threads : {1, 3}) {
                const auto kept = std::make_shared<const KeptDataset>(files.open(), budget);
                QVERIFY(epochs(kept, views, threads) == wanted);
                QCOMPARE(kept->keptBytes(), budget == 0 ? 0 : budget == 400'000 ? 360'000 : 3 * (400 * 300 + 64 * 500));
                (void)kept->image(1);
                QVERIFY(epochs(kept, views, threads) == wanted);
            }
        // What is decoded in part and what is decoded whole.
        const auto data = files.open();
        std::vector<float> out(3 * 48 * 48);
        makeView(*data->image(0), views[1], {1, 2, data->item(0).id, 1}, out.data());
        QVERIFY(std::equal(out.begin(), out.end(), wanted[2][1].begin()));
    }
};

QTEST_GUILESS_MAIN(Partial)
#include "tst_partial.moc"
