// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/check.h"
#include "core/engine/data/cifarpickle.h"
#include "core/engine/data/source.h"
#include "tests/engine/data/archives.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

constexpr int pixelBytes = 3072;
const std::string ten = "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n";

/// Red, green and blue planes that follow from the number.
std::string pixels(int number)
{
    std::string bytes;
    for (int i = 0; i < pixelBytes; ++i) bytes += char(i / 1024 * 50 + i % 1024 % 32 + number);
    return bytes;
}

std::string binaryBatch(const std::vector<int> &labels, int first = 0)
{
    std::string bytes;
    for (const int label : labels) (bytes += char(label)) += pixels(first++);
    return bytes;
}

/// What Python 2's cPickle writes with protocol 2, as the published files have it.
class Pickle
{
public:
    std::string bytes{"\x80\x02}q\x01("};
    static std::string text(const std::string &s)
    {
        if (s.size() < 256) return std::string("U") + char(s.size()) + s;
        return "T" + number(std::uint32_t(s.size())) + s;
    }
    static std::string number(std::uint32_t n) { return {char(n), char(n >> 8), char(n >> 16), char(n >> 24)}; }
    static std::string array(int images, const std::string &data, const std::string &module = "numpy.core.multiarray")
    {
        return "c" + module + "\n_reconstruct\nq\x07" + "cnumpy\nndarray\nq\x08K" + std::string("\0\x85U\x01", 4) +
            "b\x87Rq\t(K\x01" + "J" + number(std::uint32_t(images)) + std::string("M\0\x0c\x86", 4) +
            "cnumpy\ndtype\nq\nU\x02u1K" +
            std::string("\0K\x01\x87Rq\x0b(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89", 31) + text(data) +
            "tb";
    }
    static std::string list(const std::vector<int> &labels)
    {
        std::string items = "](";
        for (const int label : labels) (items += 'K') += char(label);
        return items + "e";
    }
    Pickle &add(const std::string &key, const std::string &value)
    {
        bytes += text(key) + value;
        return *this;
    }
    std::string done() const { return bytes + "u."; }
};

std::string names(const std::string &key, int count)
{
    std::string list = "](";
    for (int i = 0; i < count; ++i) list += Pickle::text("class-" + std::to_string(i));
    return Pickle().add(key, list + "e").done();
}

std::string pickledBatch(const std::vector<int> &labels, const std::string &key = "labels")
{
    std::string data;
    for (int i = 0; i < int(labels.size()); ++i) data += pixels(i);
    return Pickle()
        .add("batch_label", Pickle::text("training batch 1 of 5"))
        .add(key, Pickle::list(labels))
        .add("data", Pickle::array(int(labels.size()), data))
        .done();
}

Result<Source> open(const QString &path) { return openSource(path.toStdString(), "data.source"); }

std::string whatIsWrong(const QString &path)
{
    const auto source = open(path);
    return source ? "nothing" : source.error().message();
}

void verifyWords(const std::string &message, const char *words)
{
    QVERIFY2(message.find(words) != std::string::npos, message.c_str());
}

} // namespace

class TestCifar : public QObject
{
    Q_OBJECT

private slots:
    void binaryFolder()
    {
        QTemporaryDir folder;
        writeFileTo(folder.path() + "/batches.meta.txt", ten);
        writeFileTo(folder.path() + "/data_batch_1.bin", binaryBatch({3, 9}));
        writeFileTo(folder.path() + "/data_batch_2.bin", binaryBatch({0}, 2));
        writeFileTo(folder.path() + "/test_batch.bin", binaryBatch({7}, 3));
        const auto source = open(folder.path());
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        const Dataset &train = *source->train, &test = *source->val;
        QCOMPARE(train.size(), std::int64_t(3));
        QCOMPARE(train.classes().size(), std::size_t(10));
        QCOMPARE(train.classes()[9], std::string("truck"));
        QCOMPARE(train.item(1).label, 9);
        QCOMPARE(train.item(2).name, std::string("train-00002"));
        QCOMPARE(train.item(2).id, std::uint64_t(2));
        QVERIFY(train.inMemory());
        verifyWords(train.remark(), "not there: data_batch_3.bin, data_batch_4.bin, data_batch_5.bin");
        const auto image = train.image(2);
        QCOMPARE(image->size(), cv::Size(32, 32));
        QVERIFY(image->at<cv::Vec3b>(5, 7) == cv::Vec3b(9, 59, 109)); // row 5, column 7 of image 2
        QCOMPARE(test.item(0).label, 7);
        QCOMPARE(test.item(0).name, std::string("test-00000"));
        QVERIFY(test.item(0).id != train.item(0).id);
        QCOMPARE(test.inspect(0)->header.channels, 3);
    }

    void hundredClassesUseTheFineLabel()
    {
        QTemporaryDir folder;
        std::string fine;
        for (int i = 0; i < 100; ++i) fine += "fine-" + std::to_string(i) + '\n';
        const QString inner = folder.path() + "/cifar-100-binary";
        writeFileTo(inner + "/fine_label_names.txt", fine);
        writeFileTo(inner + "/train.bin", "\x13\x63" + pixels(0) + "\x01\x02" + pixels(1));
        const auto source = open(folder.path()); // the folder around it
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QCOMPARE(source->train->size(), std::int64_t(2));
        QCOMPARE(source->train->item(0).label, 99);
        QCOMPARE(source->train->classes()[2], std::string("fine-2"));
        QVERIFY(source->train->image(1)->at<cv::Vec3b>(0, 0) == cv::Vec3b(1, 51, 101));
        QVERIFY(!source->val);
    }

    void pickledFolders()
    {
        QTemporaryDir folder;
        const QString small = folder.path() + "/cifar-10-batches-py", large = folder.path() + "/hundred";
        writeFileTo(small + "/data_batch_1", pickledBatch({4, 5, 6}));
        writeFileTo(small + "/test_batch", pickledBatch({1}));
        writeFileTo(small + "/batches.meta", names("label_names", 10));
        writeFileTo(large + "/train", pickledBatch({99, 0}, "fine_labels"));
        writeFileTo(large + "/meta", names("fine_label_names", 100));
        const auto byFile = open(small + "/data_batch_1"), hundred = open(large);
        QVERIFY2(byFile.ok(), byFile ? "" : byFile.error().message().c_str());
        QCOMPARE(byFile->train->size(), std::int64_t(3));
        QCOMPARE(byFile->val->item(0).label, 1);
        QCOMPARE(byFile->train->classes()[4], std::string("class-4"));
        QVERIFY(byFile->train->image(2)->at<cv::Vec3b>(1, 1) == cv::Vec3b(3, 53, 103));
        QVERIFY2(hundred.ok(), hundred ? "" : hundred.error().message().c_str());
        QCOMPARE(hundred->train->item(0).label, 99);
    }

    void archivesAreReadInPlace()
    {
        const auto binary = open(dataPath("layouts/cifar/binary_small"));
        QVERIFY2(binary.ok(), binary ? "" : binary.error().message().c_str());
        QCOMPARE(binary->train->size(), std::int64_t(20));
        QCOMPARE(binary->val->size(), std::int64_t(5));
        QCOMPARE(binary->train->classes()[0], std::string("airplane"));
        const auto pickled = open(dataPath("layouts/cifar/python_small/cifar-10-python.tar.gz")); // made by Python 3
        QVERIFY2(pickled.ok(), pickled ? "" : pickled.error().message().c_str());
        QCOMPARE(pickled->train->size(), std::int64_t(20));
        for (int i = 0; i < 20; ++i) QCOMPARE(pickled->train->item(i).label, i % 10);
        QCOMPARE(QDir(dataPath("layouts/cifar/binary_small")).entryList(QDir::Files).size(), qsizetype(1));

        DataConfig config;
        config.source = dataPath("layouts/cifar/binary_small").toStdString();
        const auto check = checkData(config);
        QCOMPARE((*check)["count"].get<int>(), 25);
        QCOMPARE((*check)["sizes"][0]["width"].get<int>(), 32);
        QCOMPARE((*check)["classes"].size(), std::size_t(10));
    }

    /// A plain tar under any name, and one whose only fault is its name.
    void anyNameOfAnArchive()
    {
        QTemporaryDir folder;
        const std::string tar = tarMember("x/data_batch_1.bin", binaryBatch({1, 2})) + tarEnd();
        writeFileTo(folder.path() + "/a", tar);
        writeFileTo(folder.path() + "/b.zip", gzipped(tar));
        QCOMPARE(open(folder.path() + "/a")->train->size(), std::int64_t(2));
        QCOMPARE(open(folder.path() + "/b.zip")->train->size(), std::int64_t(2));
        QCOMPARE(open(folder.path() + "/a")->train->classes()[3], std::string("3")); // without the file of names
    }

    void refusesWhatLies()
    {
        QTemporaryDir folder;
        const QString file = folder.path() + "/data_batch_1.bin", archive = folder.path() + "/cifar-10-binary.tar.gz";
        const std::string whole = binaryBatch({1, 2, 3});
        writeFileTo(file, whole.substr(0, whole.size() - 7));
        verifyWords(whatIsWrong(folder.path()),
                    "data_batch_1.bin: is not a whole number of 3073-byte records: 9212 bytes are 2");
        writeFileTo(file, binaryBatch({1, 42}));
        verifyWords(whatIsWrong(folder.path()), "has label 42 in record 2: CIFAR-10 has 10 classes");
        writeFileTo(file, "");
        verifyWords(whatIsWrong(folder.path()), "0 records");
        writeFileTo(file, whole);
        writeFileTo(folder.path() + "/batches.meta.txt", "cat\ndog\n");
        verifyWords(whatIsWrong(folder.path()), "batches.meta.txt: names 2 classes: CIFAR-10 has 10");
        QVERIFY(QFile::remove(file));

        const std::string tar = tarMember("c/data_batch_1.bin", whole) + tarEnd(), packed = gzipped(tar);
        writeFileTo(archive, packed.substr(0, packed.size() / 2));
        verifyWords(whatIsWrong(folder.path()), "is cut short: its gzip data ends inside of c/data_batch_1.bin");
        writeFileTo(archive, packed.substr(0, packed.size() - 4));
        verifyWords(whatIsWrong(folder.path()), "without a checksum");
        writeFileTo(archive, "<!DOCTYPE html><html></html>");
        verifyWords(whatIsWrong(folder.path()), "is not a tar archive");
        writeFileTo(archive, gzipped(tarHeader("c/data_batch_1.bin", std::size_t(7) << 30)));
        verifyWords(whatIsWrong(folder.path()), "said to hold 7.5 GB");
        writeFileTo(archive,
                    gzipped(tarMember("c/data_batch_1.bin", whole) + tarMember("d/data_batch_1.bin", whole) + tarEnd()));
        verifyWords(whatIsWrong(folder.path()), "holds data_batch_1.bin twice");
    }

    void membersThatLeaveTheFolder_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<char>("type");
        QTest::addColumn<QString>("words");
        QTest::newRow("dots") << "../escaped_dotdot.txt" << '0' << "../escaped_dotdot.txt, which lies outside";
        QTest::newRow("absolute") << "/tmp/escaped" << '0' << "lies outside";
        QTest::newRow("symbolic link") << "c/out" << '2' << "is a link";
        QTest::newRow("hard link") << "c/hard" << '1' << "is a link";
        QTest::newRow("device") << "c/dev" << '3' << "neither a file nor a folder";
    }
    void membersThatLeaveTheFolder()
    {
        QFETCH(QString, name);
        QFETCH(char, type);
        QFETCH(QString, words);
        QTemporaryDir folder;
        writeFileTo(
            folder.path() + "/in/cifar-10-binary.tar.gz",
            gzipped(tarMember("c/data_batch_1.bin", binaryBatch({1})) + tarMember(name.toStdString(), "", type) + tarEnd()));
        verifyWords(whatIsWrong(folder.path() + "/in"), qPrintable(words));
        QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot), QStringList("in"));
    }

    void picklesThatWouldRunSomething()
    {
        verifyWords(whatIsWrong(dataPath("layouts/cifar/python_evil")), "data_batch_1: asks for posix.system");
        const auto what = [](const std::string &pickle) {
            const auto result = readCifarPickle(pickle);
            return result ? std::string("nothing") : result.error().what;
        };
        QCOMPARE(what("\x80\x02}i__builtin__\nexec\n."),
                 std::string("has the pickle operation 0x69 at byte 3, which no CIFAR file needs: refused"));
        verifyWords(what("\x80\x02"
                         "c__builtin__\neval\n."),
                    "asks for __builtin__.eval");
        verifyWords(what("\x80\x02"
                         "cnumpy\ndtype\n(}tR."),
                    "other than an array of bytes");
        verifyWords(what("(dp0\n."), "not a pickle of protocol 2");
        verifyWords(what("\x80\x02K\x05."), "holds a dictionary");
        verifyWords(what(pickledBatch({1, 2}).substr(0, 3000)), "cut short");
        verifyWords(what(Pickle().add("data", Pickle::array(3, "abc")).done()), "not of the size it says");
    }

    /// Lists that hold themselves, endless encodings, towers of tuples: an end in an Error, without much memory.
    void picklesThatGrow()
    {
        std::string doubling = "\x80\x02]q\x01";
        for (int i = 0; i < 3'000'000; ++i)
            doubling += "h\x01"
                        "a";
        QCOMPARE(readCifarPickle(doubling + ".").error().what, std::string("holds more values than any CIFAR file"));
        QCOMPARE(readCifarPickle("\x80\x02" + std::string(2'000'000, ']') + ".").error().what,
                 std::string("holds more values than any CIFAR file"));
        QVERIFY(!readCifarPickle("\x80\x02]" + std::string(500'000, '\x85') + "."));
        std::string encode = "\x80\x02"
                             "c_codecs\nencode\nq\x01X" +
            Pickle::number(100'000) + std::string(100'000, 'x') + "q\x02X" + Pickle::number(6) + "latin1q\x03";
        for (int i = 0; i < 10'000; ++i) encode += "h\x01h\x02h\x03\x86R";
        verifyWords(readCifarPickle(encode + ".").error().what, "again and again");
    }

    /// Every cut and many damaged bytes end in an Error or in data.
    void anyDamageEndsWell()
    {
        const std::string whole = pickledBatch({1, 2});
        QVERIFY(readCifarPickle(whole).ok());
        for (std::size_t n = 0; n < whole.size(); n += n < 200 || n + 200 > whole.size() ? 1 : 97) {
            QVERIFY2(!readCifarPickle(whole.substr(0, n)), qPrintable(QString::number(n)));
            for (const int flip : {0x01, 0x41, 0xFF}) {
                std::string bytes = whole;
                bytes[n] = char(bytes[n] ^ flip);
                (void)readCifarPickle(bytes);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestCifar)
#include "tst_cifar.moc"
