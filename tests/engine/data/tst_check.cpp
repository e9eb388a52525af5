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

private:
    QTemporaryDir m_cache;

private slots:
    void initTestCase() { qputenv("XDG_CACHE_HOME", m_cache.path().toLocal8Bit()); } // lists of unreadable files lie there

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
        auto one = check(dataPath("images/wrong-type"), 1), four = check(dataPath("images/wrong-type"), 4);
        one->erase("estimate"); // of time and memory here and now
        four->erase("estimate");
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

    void balanceAndSmallImages()
    {
        QTemporaryDir folder;
        for (int i = 0; i < 22; ++i)
            writeFileTo(folder.path() + QString("/%1/%2.png").arg(i < 2 ? "rare" : "common").arg(i),
                        picture({double(i), 0, 0}, i == 0 ? 7 : 64, 64));
        DataConfig config;
        config.source = folder.path().toStdString();
        config.valFraction = 0;
        const auto result = checkData(config, {32, 0});
        QVERIFY(result->at("balance") == Json::parse(R"({"largest": 20, "smallest": 2, "ratio": 10.0})"));
        QVERIFY(result->at("small") == Json::parse(R"({"size": 32, "count": 1})"));
        QCOMPARE(result->at("split").get<std::string>(), std::string("none"));
        QCOMPARE(result->at("warnings").size(), std::size_t(2));
        const Json &estimate = result->at("estimate");
        QCOMPARE(estimate.at("decoded_bytes").get<std::int64_t>(), std::int64_t(3 * 64 * (21 * 64 + 7)));
        QVERIFY(estimate.at("decode_seconds").get<double>() > 0 && estimate.at("free_bytes").get<std::int64_t>() > 0);
        QVERIFY(check(dataPath("images/exif"))->at("balance").is_null());
    }

    void sameImagesOnBothSides()
    {
        QTemporaryDir folder, other;
        const auto add = [](const QTemporaryDir &dir, const char *name, int colour) {
            writeFileTo(dir.path() + '/' + name, picture({double(colour), 50, 60}));
        };
        for (const char *name : {"train/cat/1.png", "train/dog/2.png", "val/cat/same.png"}) add(folder, name, 1);
        add(folder, "train/cat/3.png", 3);
        add(folder, "val/dog/4.png", 4);
        add(other, "dog/x.png", 3);
        add(other, "emu/y.png", 5);
        const auto given = check(folder.path());
        QCOMPARE(given->at("split").get<std::string>(), std::string("given"));
        QCOMPARE(given->at("train").get<int>(), 3);
        QCOMPARE(given->at("val").get<int>(), 2);
        QCOMPARE(given->at("duplicates").get<int>(), 2);
        QCOMPARE(given->at("duplicates_across_splits").get<int>(), 1);
        QVERIFY(given->at("examples") == Json::parse(R"([{"val": "val/cat/same.png", "train": "train/cat/1.png"}])"));
        QVERIFY(given->at("warnings").dump().find("1 images to evaluate on are trained on as well") != std::string::npos);

        DataConfig config;
        config.source = folder.path().toStdString();
        config.valSource = other.path().toStdString();
        const auto named = checkData(config); // labels by name: its dog is the other's dog
        QVERIFY(named->at("classes") == Json::parse(R"([{"name": "cat", "count": 2}, {"name": "dog", "count": 2},
                                                        {"name": "emu", "count": 1}])"));
        QCOMPARE(named->at("duplicates_across_splits").get<int>(), 1);
        QCOMPARE(named->at("examples").at(0).at("val").get<std::string>(), std::string("dog/x.png"));
    }

    /// The part that training leaves out is the part that the check calls so.
    void sameImagesWithinAFraction()
    {
        QTemporaryDir folder;
        for (int i = 0; i < 40; ++i)
            writeFileTo(folder.path() + QString("/%1/%2.png").arg(i % 2).arg(i), picture({double(i / 4), 50, 60}));
        DataConfig config;
        config.source = folder.path().toStdString();
        config.valFraction = 0.25;
        const auto result = checkData(config, {0, 7});
        QCOMPARE(result->at("split").get<std::string>(), std::string("fraction"));
        QCOMPARE(result->at("val").get<int>(), 10);
        const auto splits = openData(config, 7);
        std::set<std::string> val;
        for (std::int64_t i = 0; i < splits->val->size(); ++i) val.insert(splits->val->item(i).name);
        QVERIFY(result->at("duplicates_across_splits").get<int>() > 0);
        for (const auto &example : result->at("examples"))
            QVERIFY(val.count(example.at("val")) == 1 && val.count(example.at("train")) == 0);
        config.valFraction = 0;
        QCOMPARE(checkData(config, {0, 7})->at("val").get<int>(), 0);
    }

    /// Runs do not try them again, say so, and see the same images in the same order as without the list.
    void whatCannotBeReadIsSetAside()
    {
        QTemporaryDir folder;
        for (const char *name : {"train/a/1.png", "train/b/3.png", "val/a/4.png", "val/b/6.png"})
            writeFileTo(folder.path() + '/' + name, picture({double(name[8]), 2, 3}));
        writeFileTo(folder.path() + "/train/a/2.png", "<html>");
        writeFileTo(folder.path() + "/val/a/5.png", "");
        const auto open = [&] { return openSource(folder.path().toStdString(), "data.source"); };
        const auto batch = [&] {
            Loader loader(open()->train, views(), std::vector<std::vector<std::int64_t>>{{0, 1, 2}}, {});
            auto next = loader.next();
            const auto unreadable = loader.takeUnreadable();
            return std::tuple((*next)->views, (*next)->index, unreadable.size());
        };
        const auto before = batch();
        QCOMPARE(open()->train->asideCount(), std::int64_t(0));
        const auto result = check(folder.path());
        QCOMPARE(result->at("unreadable").size(), std::size_t(2));
        QVERIFY(QFile::exists(QString::fromStdString(result->at("quarantine").get<std::string>())));
        const auto source = open();
        QCOMPARE(source->train->size(), std::int64_t(3));
        QCOMPARE(source->train->item(1).name, std::string("train/a/2.png"));
        QVERIFY(source->train->asideCount() == 1 && source->val->asideCount() == 1);
        DataConfig config;
        config.source = folder.path().toStdString();
        QCOMPARE(openData(config, 1)->aside, std::int64_t(2));
        QVERIFY(batch() == before);
        QVERIFY(std::get<1>(before) == (std::vector<std::int64_t>{0, 2, 2}) && std::get<2>(before) == 1);
        const auto aside = source->train->image(1);
        QVERIFY(!aside && aside.error().what.find("HTML") != std::string::npos);
        QVERIFY(source->train->image(0).ok() && source->val->image(0).ok() && !source->val->image(1));
        writeFileTo(folder.path() + "/train/a/2.png", picture({1, 2, 3})); // repaired: nobody has to say so
        QVERIFY(open()->train->image(1).ok() && open()->train->asideCount() == 0);
        writeFileTo(folder.path() + "/val/a/5.png", picture({1, 2, 3}));
        QVERIFY(check(folder.path())->at("quarantine").get<std::string>().empty());
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
