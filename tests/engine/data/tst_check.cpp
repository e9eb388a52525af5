// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/check.h"

#include "core/engine/data/preview.h"
#include "core/engine/data/source.h"
#include "core/engine/data/stats.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

using Json = nlohmann::ordered_json;

Result<Json> check(const QString &folder, std::int64_t threads = 2)
{
    DataConfig config;
    config.source = folder.toStdString();
    config.threads = threads;
    return checkData(config);
}

std::vector<ViewSpec> views()
{
    ViewSpec spec;
    spec.augment.size = 16;
    return {spec, spec};
}

} // namespace

class TestCheck : public QObject
{
    Q_OBJECT

private slots:
    void junkFiles()
    {
        const auto result = check(dataPath("layouts/junk-files"));
        QVERIFY(result.ok());
        QCOMPARE(result->at("count").get<int>(), 11);
        QVERIFY(result->at("classes") == Json::parse(R"([{"name": "class0", "count": 7}, {"name": "class1", "count": 4}])"));
        QVERIFY(result->at("unreadable").empty());
        QCOMPARE(result->at("skipped").get<int>(), 15);
        QVERIFY(!result->at("remark").get<std::string>().empty());
    }

    void cmykIsCounted()
    {
        const auto result = check(dataPath("images/cmyk"));
        QCOMPARE(result->at("cmyk").get<int>(), 4);
        QCOMPARE(result->at("count").get<int>(), 5);
        QCOMPARE(result->at("channels").at("4").get<int>(), 4);
        QCOMPARE(result->at("channels").at("3").get<int>(), 1);
    }

    void sizesAreUpright()
    {
        const auto result = check(dataPath("images/exif"));
        QVERIFY(result->at("sizes") == Json::parse(R"([{"width": 96, "height": 64, "count": 15}])"));
    }

    void framesAreSaidOnce()
    {
        const auto result = check(dataPath("images/many-frames"));
        QCOMPARE(result->at("multi_frame").get<int>(), 6);
        QVERIFY(result->at("remark").get<std::string>().find("first frame only of 6 files") != std::string::npos);
    }

    void unreadableFilesAreListedInOrder()
    {
        const auto one = check(dataPath("images/wrong-type"), 1), four = check(dataPath("images/wrong-type"), 4);
        QVERIFY(*one == *four);
        std::vector<std::string> names;
        for (const auto &entry : one->at("unreadable")) {
            names.push_back(entry.at("name"));
            QVERIFY(!entry.at("reason").get<std::string>().empty());
        }
        QCOMPARE(names.size(), std::size_t(8));
        QVERIFY(std::ranges::is_sorted(names));
        QCOMPARE(one->at("count").get<int>() + int(names.size()), one->at("files").get<int>());
    }

    void nothingReadableIsAResult()
    {
        QTemporaryDir folder;
        writeFileTo(folder.path() + "/a/1.jpg", "<html>");
        const auto result = check(folder.path());
        QVERIFY(result.ok());
        QCOMPARE(result->at("count").get<int>(), 0);
        QCOMPARE(result->at("unreadable").at(0).at("name").get<std::string>(), std::string("a/1.jpg"));
        QVERIFY(!check(folder.path() + "/nowhere"));
    }

    void duplicatesByPixels()
    {
        QTemporaryDir folder;
        for (int i = 0; i < 6; ++i)
            writeFileTo(folder.path() + QString("/c%1/%2.png").arg(i % 2).arg(i), picture({9, 8, 7}));
        writeFileTo(folder.path() + "/c0/other.bmp", picture({9, 8, 7}, 8, 8, ".bmp")); // another file, the same picture
        writeFileTo(folder.path() + "/c0/wide.png", picture({9, 8, 7}, 9, 8));
        const auto result = check(folder.path());
        QCOMPARE(result->at("duplicates").get<int>(), 6);
        QCOMPARE(result->at("duplicates_across_labels").get<int>(), 6);
    }

    void namesSurviveJson()
    {
        QTemporaryDir folder;
        writeFileTo(folder.path() + "/tab\there/\"quote\".png", "not an image");
        const auto result = check(folder.path());
        const auto again = Json::parse(result->dump());
        QCOMPARE(again.at("unreadable").at(0).at("name").get<std::string>(), std::string("tab\there/\"quote\".png"));
    }

    void statsEqualTheDefinition()
    {
        const MadeDataset data(9, {2});
        const auto stats = channelStats(data, 3);
        QVERIFY(stats.ok());
        QCOMPARE(stats->images, std::int64_t(8));
        QCOMPARE(stats->unreadable, std::int64_t(1));
        for (int c = 0; c < 3; ++c) {
            std::vector<double> values;
            for (int i = 0; i < 9; ++i)
                if (i != 2)
                    for (const auto &pixel : cv::Mat_<cv::Vec3b>(*data.image(i))) values.push_back(pixel[c] / 255.0);
            double mean = 0, variance = 0;
            for (const double value : values) mean += value / double(values.size());
            for (const double value : values) variance += (value - mean) * (value - mean) / double(values.size());
            QVERIFY(std::abs(stats->mean[std::size_t(c)] - mean) < 1e-12);
            QVERIFY(std::abs(stats->std[std::size_t(c)] - std::sqrt(variance)) < 1e-12);
        }
        QVERIFY(stats->toJson().at("remark").get<std::string>().empty());
    }

    void constantImagesGiveNoZeroToDivideBy()
    {
        QTemporaryDir folder;
        for (int i = 0; i < 3; ++i) writeFileTo(folder.path() + QString("/%1.png").arg(i), picture({0, 0, 0}));
        const auto source = openSource(folder.path().toStdString(), "data.source");
        const auto stats = channelStats(*source->train, 1);
        QVERIFY(stats->std == (std::array<double, 3>{0, 0, 0}));
        QVERIFY(stats->divisors() == (std::array<double, 3>{1, 1, 1}));
        QVERIFY(stats->toJson().at("remark").get<std::string>().starts_with("red, green, blue are the same"));
    }

    void previewShowsWhatTrainingSees()
    {
        const auto source = openSource(dataPath("images/augment-keys").toStdString(), "data.source");
        QTemporaryDir folder;
        const std::filesystem::path out = (folder.path() + "/made/here").toStdString();
        const auto result = writePreview(*source->train, views(), {8, 3, 1, out});
        QVERIFY2(result.ok(), result ? "" : result.error().message().c_str());
        std::set<std::string> digests, files;
        for (const auto &image : result->at("digests"))
            for (const auto &epoch : image)
                for (const auto &digest : epoch) digests.insert(digest);
        QCOMPARE(digests.size(), std::size_t(8 * 3 * 2)); // all views differ
        for (const auto &image : result->at("images")) {
            files.insert(image.at("original"));
            for (const auto &epoch : image.at("views"))
                for (const auto &file : epoch) files.insert(file);
        }
        QCOMPARE(files.size(), std::size_t(8 + 8 * 3 * 2));
        for (const auto &file : files) QVERIFY(!cv::imread((out / file).string()).empty());
        QVERIFY(*writePreview(*source->train, views(), {8, 3, 1, out}) == *result);
        const auto other = writePreview(*source->train, views(), {8, 3, 2, out});
        for (const auto &image : other->at("digests"))
            for (const auto &epoch : image)
                for (const auto &digest : epoch) QVERIFY(!digests.count(digest));
    }

    void previewUndoesTheNormalisation()
    {
        ViewSpec spec;
        spec.random = false;
        spec.augment.size = 12;
        const cv::Mat rgb = pattern(12, 12);
        std::vector<float> pixels(3 * 12 * 12);
        makeView(rgb, spec, {}, pixels.data());
        QVERIFY(cv::norm(viewToImage(pixels.data(), spec.augment), rgb, cv::NORM_INF) == 0);
    }

    void previewThatCannotBeWritten()
    {
        const MadeDataset data(2);
        QTemporaryDir folder;
        writeFileTo(folder.path() + "/file", "x");
        const auto result = writePreview(data, views(), {1, 1, 1, (folder.path() + "/file/below").toStdString()});
        QVERIFY(!result);
        QVERIFY(!result.error().where.empty());
        QVERIFY(!writePreview(MadeDataset(2, {0, 1}), views(), {1, 1, 1, folder.path().toStdString()}));
    }
};

QTEST_GUILESS_MAIN(TestCheck)
#include "tst_check.moc"
