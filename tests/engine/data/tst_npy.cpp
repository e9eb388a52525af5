// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/check.h"
#include "core/engine/data/npyfile.h"
#include "core/engine/data/source.h"
#include "core/engine/data/stats.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

#include <limits>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

/// As numpy.save writes it, with any text as header.
std::string withHeader(std::string header, const std::string &values, int version = 1)
{
    const std::size_t start = version == 1 ? 10 : 12;
    header += std::string(64 - (start + header.size() + 1) % 64, ' ') + '\n';
    std::string bytes = std::string("\x93NUMPY") + char(version) + '\0' + char(header.size()) + char(header.size() >> 8);
    if (version > 1) bytes += std::string(2, '\0');
    return bytes + header + values;
}

std::string npy(const std::string &descr, const std::string &shape, const std::string &values, int version = 1)
{
    return withHeader("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }", values, version);
}

/// 0, 1, 2 … as bytes.
std::string counting(int count)
{
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += char(i);
    return bytes;
}

template<class T>
std::string numbers(const std::vector<T> &values)
{
    return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

class Folder
{
public:
    QString write(const QString &name, const std::string &bytes) const
    {
        writeFileTo(m_dir.path() + '/' + name, bytes);
        return m_dir.path() + '/' + name;
    }

private:
    QTemporaryDir m_dir;
};

Result<Source> open(const QString &path) { return openSource(path.toStdString(), "data.source"); }

void verifyWrong(const QString &path, const char *words)
{
    const auto source = open(path);
    QVERIFY(!source);
    QVERIFY2(source.error().message().find(words) != std::string::npos, source.error().message().c_str());
    QVERIFY2(source.error().message().find(".npy") != std::string::npos, source.error().message().c_str());
}

} // namespace

class TestNpy : public QObject
{
    Q_OBJECT

private slots:
    void madeByNumpy()
    {
        const QString file = dataPath("layouts/npy/images.npy");
        const auto source = open(file);
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QCOMPARE(source->train->size(), std::int64_t(40));
        QCOMPARE(source->train->image(0)->size(), cv::Size(12, 12));
        QVERIFY(std::abs(channelStats(*source->train, 2)->mean[0] * 255 - 126.189) < 0.001);
        QCOMPARE(source->train->item(3).name, std::string("images-00003"));
        QVERIFY(source->train->inMemory());
        QVERIFY(source->train->remark().find("unlabelled") != std::string::npos);
        DataConfig config;
        config.source = file.toStdString();
        QCOMPARE((*checkData(config))["channels"]["1"].get<int>(), 40);
        verifyWrong(dataPath("layouts/npy/objects.npy"), "Python objects, which would have to be unpickled: refused");
        verifyWrong(dataPath("layouts/npy/fortran.npy"), "Fortran order");
    }

    void shapes()
    {
        const Folder folder;
        const auto pixel = [&](const std::string &shape, int count) {
            const auto source = open(folder.write("b.npy", npy("|u1", shape, counting(count))));
            if (!source) qFatal("%s", source.error().message().c_str());
            return source->train->image(source->train->size() - 1)->at<cv::Vec3b>(1, 2);
        };
        QVERIFY(pixel("2, 5, 6", 60) == cv::Vec3b(38, 38, 38)); // 30 + 6 + 2
        QVERIFY(pixel("2, 5, 6, 1", 60) == cv::Vec3b(38, 38, 38));
        QVERIFY(pixel("2, 5, 6, 3", 180) == cv::Vec3b(114, 115, 116)); // 90 + 3 * 8
        QVERIFY(pixel("2, 3, 5, 6", 180) == cv::Vec3b(98, 128, 158));  // 90 + 8, planes of 30
        QVERIFY(pixel("1, 5, 6, 4", 120) == cv::Vec3b(32, 33, 34));    // alpha is dropped
    }

    void types()
    {
        const Folder folder;
        const auto pixel = [&](const std::string &descr, const std::string &values) {
            const auto image = open(folder.write("t.npy", npy(descr, "1, 1, 5", values)))->train->image(0);
            return image->at<cv::Vec3b>(0, 4)[0];
        };
        QCOMPARE(pixel("<u2", numbers<std::uint16_t>({0, 0, 0, 0, 257 * 200 + 128})), std::uint8_t(200));
        QCOMPARE(pixel("<u2", numbers<std::uint16_t>({0, 0, 0, 0, 65'535})), std::uint8_t(255));
        QCOMPARE(pixel(">u2", std::string(8, '\0') + "\x64\x64"), std::uint8_t(100));
        QCOMPARE(pixel("<f4", numbers<float>({0, 0, 0, 0, 0.5F})), std::uint8_t(128));
        QCOMPARE(pixel(">f4", std::string(16, '\0') + std::string("\x3F\x80\0\0", 4)), std::uint8_t(255));
        for (const float bad :
             {1.5F, -0.01F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
            const auto source = open(folder.write("t.npy", npy("<f4", "1, 1, 5", numbers<float>({0, 0, 0, 0, bad}))));
            const auto image = source->train->image(0);
            QVERIFY(!image);
            QVERIFY2(image.error().message().find("floating point pixels lie between 0 and 1") != std::string::npos,
                     image.error().message().c_str());
        }
        verifyWrong(folder.write("t.npy", npy("<f8", "1, 1, 5", std::string(40, '\0'))), "floating point values of 64 bits");
        verifyWrong(folder.write("t.npy", npy("<i4", "1, 1, 5", std::string(20, '\0'))), "whole values of 32 bits");
    }

    void labels()
    {
        const Folder folder;
        const QString images = folder.write("a.npy", npy("|u1", "4, 5, 6", counting(120)));
        folder.write("a_labels.npy", npy("<i8", "4,", numbers<std::int64_t>({7, -1, 100, 20}), 2));
        const auto source = open(images);
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QVERIFY(source->train->classes() == (std::vector<std::string>{"7", "20", "100"}));
        QCOMPARE(source->train->item(0).label, 0);
        QCOMPARE(source->train->item(1).label, -1);
        QCOMPARE(source->train->item(2).label, 2);
        folder.write("a_labels.npy", npy("|u1", "3, 1", counting(3)));
        verifyWrong(images, "holds 3 labels for 4 images");
        folder.write("a_labels.npy", npy("<f4", "4,", std::string(16, '\0')));
        verifyWrong(images, "holds no labels");
    }

    void trainAndTestParts()
    {
        const Folder folder;
        const QString train = folder.write("x_train.npy", npy("|u1", "2, 5, 6", counting(60)));
        folder.write("y_train.npy", npy(">u2", "2, 1", std::string("\0\3\0\1", 4)));
        folder.write("x_test.npy", npy("|u1", "1, 8, 7", counting(56)));
        folder.write("y_test.npy", npy("|u1", "1,", "\x02"));
        const auto source = open(train);
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QVERIFY(source->train->classes() == (std::vector<std::string>{"1", "2", "3"}));
        QCOMPARE(source->train->item(0).label, 2);
        QCOMPARE(source->val->item(0).label, 1);
        QCOMPARE(source->val->image(0)->size(), cv::Size(7, 8));
        QVERIFY(source->val->item(0).id != source->train->item(0).id);
    }

    void refusesWhatLies_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("words");
        const auto add = [](const char *name, const std::string &bytes, const char *words) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString(words);
        };
        add("claims more", npy("|u1", "60000, 5, 6", counting(60)),
            "says 60000 x 5 x 6, which is 1800000 bytes, but 60 follow");
        add("claims less", npy("|u1", "1, 5, 6", counting(60)), "but 60 follow");
        add("overflow", npy("|u1", "4294967296, 4294967296, 5", ""), "empty or damaged");
        add("beyond 64 bits", npy("|u1", "99999999999999999999, 5, 6", ""), "header holds no shape");
        add("zero", npy("|u1", "0, 5, 6", ""), "empty or damaged");
        add("one picture", npy("|u1", "5, 6, 3", counting(90)), "looks like one picture");
        add("flat", npy("|u1", "2, 30", counting(60)), "has the shape 2 x 30");
        add("five axes", npy("|u1", "1, 1, 5, 6, 2", counting(60)), "has the shape");
        add("two channels", npy("|u1", "1, 5, 6, 2", counting(60)), "1, 3 or 4 channels");
        add("records", withHeader("{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (2,), }", "ab"),
            "holds records");
        add("text", npy("<U3", "2, 5, 6", std::string(720, '\0')), "values of type <U3");
        add("no dictionary", withHeader("__import__('os')", "ab"), "header holds no dictionary");
        add("code as shape", npy("|u1", "open('x')", "ab"), "header holds no shape");
        add("header beyond the file", std::string("\x93NUMPY\x01\0\xF0\xFF{", 11), "ends inside its header");
        add("huge header", std::string("\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{", 13), "ends inside its header");
        add("version", std::string("\x93NUMPY\x09\0\0\0", 10), "version 9");
        add("html", "<!DOCTYPE html><html></html>", "HTML");
    }
    void refusesWhatLies()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, words);
        const Folder folder;
        verifyWrong(folder.write("a.npy", bytes.toStdString()), qPrintable(words));
    }

    void folderOfArrays()
    {
        QTemporaryDir folder;
        writeFileTo(folder.path() + "/a.npy", npy("|u1", "2, 5, 6", counting(60)));
        const auto source = open(folder.path());
        QVERIFY(!source);
        QVERIFY2(source.error().message().find("Name the .npy file") != std::string::npos, source.error().message().c_str());
    }

    void anyDamageEndsWell()
    {
        const Folder folder;
        const std::string whole = npy("|u1", "2, 3, 5", counting(30), 2);
        for (std::size_t n = 0; n < whole.size(); ++n) {
            QVERIFY2(!openNpyFile(folder.write("d.npy", whole.substr(0, n)).toStdString()), qPrintable(QString::number(n)));
            std::string bytes = whole;
            bytes[n] = char(bytes[n] ^ 0x11);
            (void)open(folder.write("d.npy", bytes));
        }
    }
};

QTEST_GUILESS_MAIN(TestNpy)
#include "tst_npy.moc"
