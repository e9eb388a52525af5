// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"
#include "tests/engine/data/archives.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

constexpr int side = 96;
const std::string names = "airplane\nbird\ncar\ncat\ndeer\ndog\nhorse\nmonkey\nship\ntruck\n";

/// As STL-10 has it: three planes, each column by column. Row, column and channel can be told from the value.
std::string pixels(int number)
{
    std::string bytes;
    for (int channel = 0; channel < 3; ++channel)
        for (int column = 0; column < side; ++column)
            for (int row = 0; row < side; ++row) bytes += char(channel * 60 + column / 2 + row + number);
    return bytes;
}

std::string images(int count, int first = 0)
{
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += pixels(first + i);
    return bytes;
}

void writeAll(const QString &folder)
{
    writeFileTo(folder + "/class_names.txt", names);
    writeFileTo(folder + "/train_X.bin", images(2));
    writeFileTo(folder + "/train_y.bin", "\x01\x0A");
    writeFileTo(folder + "/test_X.bin", images(1, 2));
    writeFileTo(folder + "/test_y.bin", "\x03");
    writeFileTo(folder + "/unlabeled_X.bin", images(3, 10));
}

Result<Source> open(const QString &path) { return openSource(path.toStdString(), "data.source"); }

void verifyWrong(const QString &path, const char *words)
{
    const auto source = open(path);
    QVERIFY(!source);
    QVERIFY2(source.error().message().find(words) != std::string::npos, source.error().message().c_str());
}

} // namespace

class TestStl : public QObject
{
    Q_OBJECT

private slots:
    void labelledParts()
    {
        QTemporaryDir folder;
        writeAll(folder.path() + "/stl10_binary");
        for (const char *path : {"", "/stl10_binary", "/stl10_binary/train_X.bin"}) {
            const auto source = open(folder.path() + path);
            QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
            QCOMPARE(source->train->size(), std::int64_t(2));
            QCOMPARE(source->train->item(1).label, 9);
            QCOMPARE(source->train->classes()[9], std::string("truck"));
            QCOMPARE(source->val->size(), std::int64_t(1));
            QCOMPARE(source->val->item(0).label, 2);
            const auto image = source->train->image(1);
            QCOMPARE(image->size(), cv::Size(side, side));
            QVERIFY(image->at<cv::Vec3b>(40, 8) == cv::Vec3b(45, 105, 165)); // row 40, column 8 of image 1
            QVERIFY(source->train->inMemory());
        }
    }

    /// The unlabelled images come first, then the labelled ones, so that neighbours can vote.
    void unlabelledPartWhenItIsNamed()
    {
        QTemporaryDir folder;
        writeAll(folder.path());
        const auto source = open(folder.path() + "/unlabeled_X.bin");
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        const Dataset &train = *source->train;
        QCOMPARE(train.size(), std::int64_t(5));
        QCOMPARE(train.item(0).label, -1);
        QCOMPARE(train.item(2).name, std::string("unlabelled-00002"));
        QCOMPARE(train.item(3).name, std::string("train-00000"));
        QCOMPARE(train.item(3).label, 0);
        QVERIFY(train.image(2)->at<cv::Vec3b>(0, 0) == cv::Vec3b(12, 72, 132));
        QVERIFY(train.image(4)->at<cv::Vec3b>(0, 0) == cv::Vec3b(1, 61, 121));
        QCOMPARE(open(folder.path())->train->item(0).id, train.item(3).id); // an image keeps its id
        QCOMPARE(source->val->size(), std::int64_t(1));
    }

    void archiveIsReadInPlace()
    {
        QTemporaryDir folder;
        std::string tar = tarMember("stl10_binary/", "", '5') + tarMember("stl10_binary/test_X.bin", images(1, 2)) +
            tarMember("stl10_binary/test_y.bin", "\x03") + tarMember("stl10_binary/train_X.bin", images(2)) +
            tarMember("stl10_binary/train_y.bin", "\x01\x0A") + tarMember("stl10_binary/unlabeled_X.bin", images(3));
        writeFileTo(folder.path() + "/stl10_binary.tar.gz", gzipped(tar + tarEnd()));
        const auto source = open(folder.path());
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QCOMPARE(source->train->size(), std::int64_t(2));
        QCOMPARE(source->train->classes()[9], std::string("10")); // without the file of names
        QCOMPARE(source->val->item(0).label, 2);
    }

    void refusesWhatLies()
    {
        QTemporaryDir folder;
        writeAll(folder.path());
        writeFileTo(folder.path() + "/train_y.bin", "\x01");
        verifyWrong(folder.path(), "train_y.bin: holds 1 labels for 2 images");
        writeFileTo(folder.path() + "/train_y.bin", "\x01\x0B");
        verifyWrong(folder.path(), "has label 11 for image 2");
        writeFileTo(folder.path() + "/class_names.txt", "cat\n");
        verifyWrong(folder.path(), "names 1 classes");
        writeAll(folder.path());
        writeFileTo(folder.path() + "/test_X.bin", images(1).substr(1));
        verifyWrong(folder.path(), "test_X.bin: is not a whole number of 27648-byte images: 27647 bytes are 0 images");
        writeFileTo(folder.path() + "/unlabeled_X.bin", "");
        verifyWrong(folder.path() + "/unlabeled_X.bin", "0 bytes are 0 images");
        QVERIFY(QFile::remove(folder.path() + "/test_y.bin"));
        writeFileTo(folder.path() + "/test_X.bin", images(1));
        verifyWrong(folder.path(), "test_y.bin: is missing");
    }

    /// A file that is cut while a run reads it is an Error of its last images.
    void fileThatShrinksMeanwhile()
    {
        QTemporaryDir folder;
        writeAll(folder.path());
        const auto source = open(folder.path());
        QVERIFY(source->train->image(1).ok());
        QVERIFY(QFile::resize(folder.path() + "/train_X.bin", 30'000));
        QVERIFY(source->train->image(0).ok());
        const auto cut = source->train->image(1);
        QVERIFY(!cut);
        QVERIFY2(cut.error().message().find("train_X.bin (train-00001): the file has become shorter") != std::string::npos,
                 cut.error().message().c_str());
    }
};

QTEST_GUILESS_MAIN(TestStl)
#include "tst_stl.moc"
