// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/check.h"
#include "core/engine/data/idxfile.h"
#include "core/engine/data/source.h"
#include "core/engine/data/stats.h"
#include "tests/engine/data/archives.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

std::string header(int type, const std::vector<std::uint32_t> &dims)
{
    std::string bytes{'\0', '\0', char(type), char(dims.size())};
    for (const auto dim : dims)
        for (int shift = 24; shift >= 0; shift -= 8) bytes += char(dim >> shift);
    return bytes;
}

/// Two train images and one test image of 2 x 2 pixels.
void writeTiny(const QString &folder, const std::string &labels = std::string("\0\x02", 2))
{
    writeFileTo(folder + "/train-images-idx3-ubyte.gz", gzipped(header(8, {2, 2, 2}) + "abcdefgh"));
    writeFileTo(folder + "/train-labels-idx1-ubyte.gz", gzipped(header(8, {2}) + labels));
    writeFileTo(folder + "/t10k-images-idx3-ubyte", header(8, {1, 2, 2}) + "ijkl");
    writeFileTo(folder + "/t10k-labels-idx1-ubyte", header(8, {1}) + "\x01");
}

DataConfig settings(const std::string &source)
{
    DataConfig config{};
    config.source = source;
    return config;
}

} // namespace

class TestIdx : public QObject
{
    Q_OBJECT

private slots:
    void readsWhatIsThere_data()
    {
        QTest::addColumn<QString>("folder");
        for (const char *folder : {"idx_good", "idx_gz", "idx_dot_name", "idx_plain_named_gz"})
            QTest::newRow(folder) << QString(folder);
    }
    void readsWhatIsThere()
    {
        QFETCH(QString, folder);
        const auto source = openSource(dataPath("layouts/idx/" + folder).toStdString(), "data.source");
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QCOMPARE(source->train->size(), std::int64_t(40));
        QCOMPARE(source->train->classes().size(), std::size_t(4));
        const auto image = source->train->image(7);
        QCOMPARE(image->cols, 12);
        QCOMPARE(image->rows, 12);
        const auto stats = channelStats(*source->train, 2);
        QVERIFY(std::abs(stats->mean[0] * 255 - 126.189) < 0.001);
        QCOMPARE(source->train->item(7).name, std::string("train-00007"));
    }

    void refusesWhatLies_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("words");
        QTest::newRow("html") << "idx_html_named_gz"
                              << "HTML";
        QTest::newRow("claims") << "idx_claims_60000"
                                << "header says 60000 x 12 x 12, but the file holds 40 images";
        QTest::newRow("extra") << "idx_extra_bytes"
                               << "100 bytes more";
        QTest::newRow("counts") << "idx_counts_differ"
                                << "holds 39 labels for 40 images";
        QTest::newRow("overflow") << "idx_overflow"
                                  << "too large";
        QTest::newRow("wraps") << "idx_product_wraps"
                               << "zero or too large";
        QTest::newRow("float") << "idx_float"
                               << "32-bit floating point";
        QTest::newRow("swapped") << "idx_swapped"
                                 << "has 1 dimension, not 3: are the files of images and labels exchanged?";
        QTest::newRow("cut") << "idx_gz_cut"
                             << "gzip data ends";
        QTest::newRow("bomb") << "idx_gz_bomb"
                              << "more data follow";
    }
    void refusesWhatLies()
    {
        QFETCH(QString, folder);
        QFETCH(QString, words);
        const auto source = openSource(dataPath("layouts/idx/" + folder).toStdString(), "data.source");
        QVERIFY(!source);
        const std::string message = source.error().message();
        QVERIFY2(QString::fromStdString(message).contains(words), message.c_str());
        QVERIFY2(QString::fromStdString(message).contains("-ubyte"), message.c_str()); // which file
        QVERIFY(!source.error().hint.empty());
    }

    void classesAreTheLabelsThatOccur()
    {
        const auto source = openSource(dataPath("layouts/idx/idx_label_out_of_range").toStdString(), "data.source");
        QVERIFY(source.ok());
        QVERIFY(source->train->classes() == std::vector<std::string>{"255"});
        QCOMPARE(source->train->item(39).label, 0);
    }

    void withoutLabels()
    {
        const auto splits = openData(settings(dataPath("layouts/idx/idx_images_only").toStdString()), 1);
        QVERIFY(splits.ok());
        QCOMPARE(splits->train->size(), std::int64_t(40));
        QVERIFY(splits->train->classes().empty());
        QCOMPARE(splits->train->item(0).label, -1);
        QVERIFY(splits->train->remark().find("unlabelled") != std::string::npos);
        QCOMPARE(splits->val->size(), std::int64_t(0));
    }

    void testPartIsTheEvaluationPart()
    {
        QTemporaryDir folder;
        writeTiny(folder.path());
        const auto splits = openData(settings(folder.path().toStdString()), 1);
        QVERIFY2(splits.ok(), splits ? "" : splits.error().message().c_str());
        QCOMPARE(splits->train->size(), std::int64_t(2));
        QCOMPARE(splits->val->size(), std::int64_t(1));
        QVERIFY(splits->train->classes() == (std::vector<std::string>{"0", "1", "2"}));
        QCOMPARE(splits->train->item(1).label, 2);
        QCOMPARE(splits->val->item(0).label, 1);
        QVERIFY(splits->val->item(0).id != splits->train->item(0).id);
        QVERIFY(splits->train->image(1)->at<cv::Vec3b>(1, 0) == cv::Vec3b('g', 'g', 'g'));
        QCOMPARE(splits->val->item(0).name, std::string("test-00000"));
    }

    void fashionMnistByName()
    {
        QTemporaryDir data;
        const QByteArray before = qgetenv("XDG_DATA_DIRS");
        qputenv("XDG_DATA_DIRS", ("/nowhere:" + data.path()).toLocal8Bit());
        const auto missing = openData(settings("fashion-mnist"), 1);
        writeTiny(data.path() + "/datasets/fashion-mnist");
        const auto found = openData(settings("fashion-mnist"), 1);
        const auto byFolder = openData(settings((data.path() + "/datasets/fashion-mnist").toStdString()), 1);
        qputenv("XDG_DATA_DIRS", before);
        QVERIFY(!missing);
        QCOMPARE(missing.error().hint,
                 std::string("parallax data get fashion-mnist, or sudo apt-get install dataset-fashion-mnist"));
        QVERIFY(found.ok());
        QVERIFY(found->train->classes() == (std::vector<std::string>{"T-shirt/top", "Trouser", "Pullover"}));
        QVERIFY(byFolder->train->classes() == found->train->classes());
    }

    void theUsersOwnDataByName()
    {
        QTemporaryDir own;
        const QByteArray before = qgetenv("XDG_DATA_HOME");
        qputenv("XDG_DATA_HOME", own.path().toLocal8Bit());
        const auto missing = openSource("imagenette", "data.val_source");
        const QString place = own.path() + "/parallax/datasets/imagenette/";
        QDir().mkpath(place); // an empty folder is no data set
        const auto empty = openSource("imagenette", "data.source");
        for (const char *name : {"train/n01440764/a.png", "val/n01440764/b.png"})
            writeFileTo(place + name, picture({1, 2, 3}));
        const auto found = openSource("imagenette", "data.source");
        qputenv("XDG_DATA_HOME", before);
        QCOMPARE(missing.error().hint, std::string("parallax data get imagenette"));
        QCOMPARE(missing.error().where, std::string("data.val_source"));
        QVERIFY(!empty);
        QVERIFY(found.ok() && found->val);
        QCOMPARE(found->train->size(), std::int64_t(1));
        QVERIFY(openSource("imagenete", "data.source").error().hint.find("imagenette") != std::string::npos);
    }

    void onlyATestPart()
    {
        QTemporaryDir folder;
        writeFileTo(folder.path() + "/t10k-images-idx3-ubyte", header(8, {1, 2, 2}) + "ijkl");
        QVERIFY(openSource(folder.path().toStdString(), "data.source").error().what.find("no train-images") !=
                std::string::npos);
    }

    /// Every cut and many damaged bytes end in an Error or in data, never in a crash or a huge allocation.
    void anyDamageEndsWell()
    {
        QTemporaryDir folder;
        const std::string plain = header(8, {3, 4, 5}) + std::string(60, 'x'), packed = gzipped(plain);
        const QString file = folder.path() + "/f";
        for (const auto &whole : {plain, packed})
            for (std::size_t n = 0; n < whole.size(); ++n) {
                writeFileTo(file, whole.substr(0, n));
                QVERIFY2(!readIdx(file.toStdString(), 3), qPrintable(QString::number(n)));
                std::string bytes = whole;
                bytes[n] = char(bytes[n] ^ 0x41);
                writeFileTo(file, bytes);
                (void)readIdx(file.toStdString(), 3);
            }
        writeFileTo(file, packed);
        QVERIFY(readIdx(file.toStdString(), 3).ok());
    }
};

QTEST_GUILESS_MAIN(TestIdx)
#include "tst_idx.moc"
