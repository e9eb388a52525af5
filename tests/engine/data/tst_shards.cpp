// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/check.h"
#include "core/engine/data/shardindex.h"
#include "core/engine/data/source.h"
#include "core/engine/data/tarreader.h"
#include "tests/engine/data/archives.h"
#include "tests/engine/data/datatest.h"

#include <QProcess>
#include <QTest>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

using Names = std::vector<std::string>;

/// A picture with its label in .cls.
std::string sample(const std::string &key, const std::string &label, int shade = 50)
{
    return tarMember(key + ".png", picture({double(shade), 20, 30})) + tarMember(key + ".cls", label);
}

class Folder
{
public:
    QString write(const QString &name, const std::string &bytes) const
    {
        writeFileTo(path(name), bytes);
        return path(name);
    }
    QString path(const QString &name = {}) const { return m_dir.path() + '/' + name; }

private:
    QTemporaryDir m_dir;
};

Result<Source> open(const QString &path) { return openSource(path.toStdString(), "data.source"); }

void verifyWords(const std::string &message, const char *words)
{
    QVERIFY2(message.find(words) != std::string::npos, message.c_str());
}

Names namesOf(const Dataset &data)
{
    Names names;
    for (std::int64_t i = 0; i < data.size(); ++i) names.push_back(data.item(i).name);
    return names;
}

} // namespace

class TestShards : public QObject
{
    Q_OBJECT

private slots:
    void oneShard()
    {
        const Folder folder;
        const QString file = folder.write(
            "a.tar",
            sample("x/0001", "7\n", 40) + tarMember("x/0002.json", R"({"label": 12, "text": "a"})") +
                tarMember("x/0002.png", picture({80, 20, 30})) + tarMember("x/0002.txt", "3") +
                tarMember("x/0003.left.PNG", picture({120, 1, 1})) + tarMember("x/0003.right.png", picture({1, 1, 1})) +
                tarMember("x/0003.txt", "a caption") + tarMember("x/0004.cls", "7") + tarMember("readme", "x") +
                tarMember("x/0005.mp3", "x") + tarEnd());
        const auto source = open(file);
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        const Dataset &data = *source->train;
        QVERIFY(namesOf(data) == (Names{"a.tar/x/0001.png", "a.tar/x/0002.png", "a.tar/x/0003.left.PNG"}));
        QVERIFY(data.classes() == (Names{"7", "12"}));
        QCOMPARE(data.item(0).label, 0);
        QCOMPARE(data.item(1).label, 1);
        QCOMPARE(data.item(2).label, -1);
        QCOMPARE(data.image(1)->at<cv::Vec3b>(3, 3)[0], std::uint8_t(80));
        QCOMPARE(data.image(2)->at<cv::Vec3b>(3, 3)[0], std::uint8_t(120));
        QVERIFY(!data.inMemory());
        verifyWords(data.remark(), "1 images have no label; passed over 4 members: ");
        verifyWords(data.remark(), "1 image beside the first of its key, 1 label without an image");
        QCOMPARE(data.skipped(), std::int64_t(4));
        DataConfig config;
        config.source = file.toStdString();
        QCOMPARE((*checkData(config))["count"].get<int>(), 3);
    }

    void folderAndPatterns()
    {
        const Folder folder;
        for (int i = 8; i < 12; ++i)
            folder.write(QString("s-%1.tar").arg(i, 4, 10, QChar('0')), sample(std::to_string(i), "cat") + tarEnd());
        folder.write("note.txt", "x");
        QCOMPARE(open(folder.path())->train->size(), std::int64_t(4));
        const auto some = open(folder.path("s-{0009..0011}.tar")), all = open(folder.path("s-00*.tar"));
        QVERIFY2(some.ok(), some ? "" : some.error().message().c_str());
        QVERIFY(namesOf(*some->train) == (Names{"s-0009.tar/9.png", "s-0010.tar/10.png", "s-0011.tar/11.png"}));
        QCOMPARE(all->train->size(), std::int64_t(4));
        QCOMPARE(all->train->item(1).id, some->train->item(0).id); // whatever the way, an image keeps its id
        QCOMPARE(open(folder.path("s-0009.tar"))->train->item(0).id, some->train->item(0).id);
        verifyWords(open(folder.path("s-{0009..0013}.tar")).error().message(), "s-0012.tar, which the pattern asks for");
        verifyWords(open(folder.path("t*.tar")).error().message(), "no file has a name like this");
        verifyWords(open(folder.path("s-{9.tar")).error().message(), "do not fit");
    }

    void braces()
    {
        const auto expand = [](const char *pattern) { return expandBraces(pattern).value(); };
        QVERIFY(expand("a") == Names{"a"});
        QVERIFY(expand("a-{08..11}.tar") == (Names{"a-08.tar", "a-09.tar", "a-10.tar", "a-11.tar"}));
        QVERIFY(expand("{x,y}{1..2}") == (Names{"x1", "x2", "y1", "y2"}));
        for (const char *bad : {"{1..}", "{..}", "{3..2}", "{a}", "{1..2", "{0..999999999}", "{0..9999}{0..9999}"})
            QVERIFY2(!expandBraces(bad), bad);
    }

    void trainAndEvaluationShards()
    {
        const Folder folder;
        folder.write("set-train-0.tar", sample("a", "cat") + sample("b", "dog") + tarEnd());
        folder.write("set-val-0.tar", sample("c", "eel") + tarEnd());
        folder.write("set-test-0.tar", sample("d", "cat") + tarEnd());
        const auto source = open(folder.path());
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QCOMPARE(source->train->size(), std::int64_t(2));
        QVERIFY(namesOf(*source->val) == Names{"set-val-0.tar/c.png"});
        QCOMPARE(source->val->item(0).label, 2);
        QVERIFY(source->train->classes() == source->val->classes());
        const Folder other;
        other.write("train/0.tar", sample("a", "1") + tarEnd());
        other.write("test/0.tar", sample("b", "1") + tarEnd());
        QCOMPARE(open(other.path())->val->item(0).name, std::string("test/0.tar/b.png"));
    }

    /// Members with any name, links and devices are only members: nothing is written anywhere.
    void namesThatLeaveTheFolder()
    {
        const Folder folder;
        folder.write("in/a.tar",
                     sample("../escaped", "1") + sample("/tmp/parallax-escaped", "2") + tarMember("l.png", "", '2') +
                         tarMember("h.png", "", '1') + tarMember("d.png", "", '3') + sample("last", "3") + tarEnd());
        const auto source = open(folder.path("in"));
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QCOMPARE(source->train->size(), std::int64_t(3));
        QVERIFY(source->train->image(0).ok());
        verifyWords(source->train->remark(), "3 link or special file");
        QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot), QStringList("in"));
        QVERIFY(!QFile::exists("/tmp/parallax-escaped.png"));
    }

    void cutAndDamagedShardsAreUsedAsFarAsTheyGo()
    {
        const Folder folder;
        const std::string first = sample("a", "1"), second = sample("b", "2");
        folder.write("0.tar", first + second); // no end mark
        folder.write("1.tar", first + second.substr(0, 600));
        folder.write("2.tar", first + std::string(512, 'x') + tarEnd());
        folder.write("3.tar", gzipped(first + tarEnd()));
        const auto source = open(folder.path());
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QCOMPARE(source->train->size(), std::int64_t(4));
        verifyWords(source->train->remark(), "0.tar is cut short");
        verifyWords(source->train->remark(), "(2 images of it are used); 3 further archives are damaged");
        QCOMPARE(source->train->skipped(), std::int64_t(4));

        const Folder alone;
        alone.write("a.tar", tarHeader("a.png", 5'000'000'000) + "x");
        verifyWords(open(alone.path()).error().message(), "a.png has 5000000000 bytes, of which 1 are there");
        const QString packed = alone.write("b.tar.gz", gzipped(first + tarEnd()));
        verifyWords(open(packed).error().message(), "unpack it with gunzip");
        verifyWords(open(alone.write("c.tar", tarMember("a.txt", "x") + tarEnd())).error().message(), "holds no images");
    }

    void shardThatChangesMeanwhile()
    {
        const Folder folder;
        const QString file = folder.write("a.tar", sample("a", "1") + tarEnd());
        const auto source = open(file);
        QVERIFY(source->train->image(0).ok());
        folder.write("a.tar", sample("abc", "1") + sample("d", "1") + tarEnd());
        verifyWords(source->train->image(0).error().message(), "a.tar/a.png: its archive has changed");
        QVERIFY(QFile::remove(file));
        verifyWords(source->train->image(0).error().message(), "No such file");
    }

    /// What GNU tar writes: long names in its own way and in pax headers, folders, a member of no bytes.
    void madeByTar_data()
    {
        QTest::addColumn<QString>("format");
        for (const char *format : {"gnu", "pax", "ustar", "v7"}) QTest::newRow(format) << QString(format);
    }
    void madeByTar()
    {
        QFETCH(QString, format);
        const Folder folder;
        const QString deep = format == "v7" ? "short" : QString(90, 'd') + '/' + QString(format == "ustar" ? 60 : 140, 'e');
        folder.write("in/" + deep + "/0001.png", picture({60, 20, 30}));
        folder.write("in/" + deep + "/0001.cls", "4");
        folder.write("in/" + deep + "/0002.png", "");
        QCOMPARE(
            QProcess::execute(
                "tar", {"--format=" + format, "--sort=name", "-C", folder.path("in"), "-cf", folder.path("a.tar"), "."}),
            0);
        const auto source = open(folder.path("a.tar"));
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QCOMPARE(source->train->size(), std::int64_t(2));
        QCOMPARE(source->train->item(0).name, ("a.tar/./" + deep + "/0001.png").toStdString());
        QCOMPARE(source->train->item(0).label, 0);
        QVERIFY(source->train->image(0).ok());
        verifyWords(source->train->image(1).error().message(), "an empty file");
    }

    void anyDamageEndsWell()
    {
        const Folder folder;
        const std::string whole = tarMember("PaxHeaders/a", "18 path=abc/d.png\n", 'x') + sample("a", "1") +
            tarMember("n", "long/name.png", 'L') + tarMember("b", "x") + tarEnd();
        const std::string file = folder.path("a.tar").toStdString();
        for (std::size_t n = 0; n < whole.size(); n += 7) {
            folder.write("a.tar", whole.substr(0, n));
            (void)indexShard(file);
            for (const int flip : {0x01, 0x80}) {
                std::string bytes = whole;
                bytes[n] = char(bytes[n] ^ flip);
                folder.write("a.tar", bytes);
                (void)indexShard(file);
            }
        }
        folder.write("a.tar", whole);
        QCOMPARE(indexShard(file).problem, std::string());
        QCOMPARE(indexShard(file).samples.size(), std::size_t(2));
    }
};

QTEST_GUILESS_MAIN(TestShards)
#include "tst_shards.moc"
