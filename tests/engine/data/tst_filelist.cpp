// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/check.h"
#include "core/engine/data/csvreader.h"
#include "core/engine/data/source.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

using Names = std::vector<std::string>;

/// A list and the pictures that it may name: a.png, b.png, c d.png, sub/e.png.
class Folder
{
public:
    Folder()
    {
        int shade = 0;
        for (const char *name : {"a.png", "b.png", "c d.png", "sub/e.png"})
            writeFileTo(m_dir.path() + '/' + name, picture({double(shade += 40), 20, 30}));
    }
    std::string path(const std::string &name) const { return m_dir.path().toStdString() + '/' + name; }
    Result<Source> open(const std::string &list) const
    {
        writeFileTo(QString::fromStdString(path("list.csv")), list);
        return openSource(path("list.csv"), "data.source");
    }

private:
    QTemporaryDir m_dir;
};

Names namesOf(const Dataset &data)
{
    Names names;
    for (std::int64_t i = 0; i < data.size(); ++i) names.push_back(data.item(i).name);
    return names;
}

std::vector<int> labelsOf(const Dataset &data)
{
    std::vector<int> labels;
    for (std::int64_t i = 0; i < data.size(); ++i) labels.push_back(data.item(i).label);
    return labels;
}

} // namespace

class TestFileList : public QObject
{
    Q_OBJECT

private slots:
    void pathsAlone()
    {
        const Folder folder;
        const auto source = folder.open("path\nsub/e.png\na.png\n");
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QVERIFY(namesOf(*source->train) == (Names{"sub/e.png", "a.png"})); // in the order of the list
        QVERIFY(source->train->classes().empty());
        QCOMPARE(source->train->item(0).label, -1);
        QCOMPARE(source->train->image(1)->at<cv::Vec3b>(0, 0)[0], std::uint8_t(40));
        QVERIFY(source->train->remark().empty());
        QVERIFY(!source->val);
        const auto image = openFolder(folder.path("")); // an image has the same id in a folder and in a list
        for (std::int64_t i = 0; i < image->train->size(); ++i)
            if (image->train->item(i).name == "a.png") QCOMPARE(image->train->item(i).id, source->train->item(1).id);
    }

    void labelsAndSplits()
    {
        const Folder folder;
        const auto source = folder.open("\xEF\xBB\xBFsplit,Label, path \r\n"
                                        "train,cat,a.png\r\n"
                                        "val,dog,b.png\r\n"
                                        "\r\n"
                                        ",cat,sub/e.png\r\n"
                                        "TEST,bird,\"c d.png\"");
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QVERIFY(source->train->classes() == (Names{"bird", "cat", "dog"}));
        QVERIFY(labelsOf(*source->train) == (std::vector<int>{1, 1}));
        QVERIFY(namesOf(*source->val) == Names{"b.png"});
        QCOMPARE(source->val->item(0).label, 2);
        QCOMPARE(source->train->remark(), std::string("1 rows are of a further evaluation split and left out"));
    }

    void numbersAreOrderedAsNumbers()
    {
        const Folder folder;
        const auto source = folder.open("path,label\na.png,10\nb.png,9\nc d.png,\nsub/e.png,-2\n");
        QVERIFY(source->train->classes() == (Names{"-2", "9", "10"}));
        QVERIFY(labelsOf(*source->train) == (std::vector<int>{2, 1, -1, 0}));
    }

    void missingFilesAreCountedAndSaid()
    {
        const Folder folder;
        const auto source = folder.open("path,label\na.png,x\ngone/1.png,x\nsub,x\nb.png,y\na.png,x\n");
        QVERIFY2(source.ok(), source ? "" : source.error().message().c_str());
        QCOMPARE(source->train->size(), std::int64_t(3));
        QCOMPARE(source->train->skipped(), std::int64_t(2));
        QCOMPARE(source->train->remark(),
                 std::string("2 listed files are missing, the first: gone/1.png; 1 rows name a file "
                             "that an earlier row names"));
        DataConfig config;
        config.source = folder.path("list.csv");
        const auto check = checkData(config);
        QCOMPARE((*check)["count"].get<int>(), 3);
        QCOMPARE((*check)["skipped"].get<int>(), 2);
        const auto none = folder.open("path\nx.png\ny.png\n");
        QVERIFY(!none);
        QCOMPARE(none.error().what,
                 std::string("lists no training image that is there: 2 listed files are missing, the "
                             "first: x.png"));
    }

    void unreadableFilesAreNamed()
    {
        const Folder folder;
        writeFileTo(QString::fromStdString(folder.path("page.jpg")), "<!DOCTYPE html><html></html>");
        const auto source = folder.open("path\npage.jpg\n" + folder.path("a.png") + "\n");
        QCOMPARE(source->train->image(0).error().where, std::string("page.jpg"));
        QVERIFY(source->train->image(1).ok()); // an absolute path
    }

    void refusesWhatIsNoList_data()
    {
        QTest::addColumn<QByteArray>("list");
        QTest::addColumn<QString>("words");
        QTest::newRow("empty") << QByteArray("") << "is empty";
        QTest::newRow("no header") << QByteArray("a.png,cat\n") << "has no column \"path\"";
        QTest::newRow("semicolons") << QByteArray("path;label\na.png;cat\n") << "columns are separated by commas";
        QTest::newRow("fields") << QByteArray("path,label\na.png,x\nb.png\n") << "line 3 has 1 fields, the header has 2";
        QTest::newRow("more fields") << QByteArray("path\na.png,x\n") << "line 2 has 2 fields, the header has 1";
        QTest::newRow("split") << QByteArray("path,split\na.png,night\n") << "line 2 has the split \"night\"";
        QTest::newRow("open quote") << QByteArray("path\n\"a.png\nb.png\n") << "line 2 opens a quote that nothing closes";
        QTest::newRow("stray quote") << QByteArray("path\na\"b.png\n") << "line 2 has a quote inside";
        QTest::newRow("behind a quote") << QByteArray("path\n\"a\"b.png\n") << "goes on behind a closing quote";
        QTest::newRow("no path") << QByteArray("path,label\n,x\n") << "line 2 has an empty path";
        QTest::newRow("only evaluation") << QByteArray("path,split\na.png,val\n") << "lists no training image";
    }
    void refusesWhatIsNoList()
    {
        QFETCH(QByteArray, list);
        QFETCH(QString, words);
        const Folder folder;
        const auto source = folder.open(list.toStdString());
        QVERIFY(!source);
        const std::string message = source.error().message();
        QVERIFY2(QString::fromStdString(message).contains(words), message.c_str());
        QVERIFY2(message.find("list.csv") != std::string::npos, message.c_str());
    }

    void quotingAfterRfc4180()
    {
        CsvReader csv("a,\"b \"\"c\"\", d\",\r\n\"two\nlines\",,\"\"\n\nlast,x,y\r");
        const auto next = [&] {
            auto record = csv.next();
            return record && *record ? **record : Names{"none"};
        };
        QVERIFY(next() == (Names{"a", "b \"c\", d", ""}));
        QVERIFY(next() == (Names{"two\nlines", "", ""}));
        QCOMPARE(csv.line(), std::size_t(2));
        QVERIFY(next() == (Names{"last", "x", "y"}));
        QCOMPARE(csv.line(), std::size_t(5));
        QVERIFY(next() == Names{"none"});
    }
};

QTEST_GUILESS_MAIN(TestFileList)
#include "tst_filelist.moc"
