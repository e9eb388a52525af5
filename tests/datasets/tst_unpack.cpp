// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/datasets/unpack.h"

#include "tests/datasets/archives.h"

#include <QTemporaryDir>
#include <QTest>

using namespace parallax;
using namespace parallax::datasets;
using namespace parallax::testing;

using Members = std::vector<Member>;

class TestUnpack : public QObject
{
    Q_OBJECT

private:
    Status unpackBytes(const std::string &bytes, std::uint64_t limit = 1'000'000)
    {
        const QString archive = m_dir->filePath("set.tar.gz");
        write(archive, bytes);
        return unpack(archive.toStdString(), m_dir->filePath("out").toStdString(), {limit, 1'000}, {});
    }
    std::unique_ptr<QTemporaryDir> m_dir;

private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void filesAndFolders()
    {
        const std::string large = noise(300'000);
        const Status status = unpackBytes(tarGz({{"top/", "", AE_IFDIR},
                                                 {"top/empty/", "", AE_IFDIR},
                                                 {"./top/a.bin", large},
                                                 {"top//deep/er/b", ""}, // its folders are not members
                                                 {"top/caf\xE9", "x"}}));
        QVERIFY2(status.ok(), status ? "" : status.error().message().c_str());
        QVERIFY(read(m_dir->filePath("out/top/a.bin")) == large);
        QVERIFY(QFile::exists(m_dir->filePath("out/top/deep/er/b")));
        QVERIFY(QDir(m_dir->filePath("out/top/empty")).exists());
        QVERIFY(std::filesystem::exists(m_dir->path().toStdString() + "/out/top/caf\xE9"));
        std::filesystem::remove_all(m_dir->path().toStdString() + "/out"); // Qt cannot name it
    }

    void whatIsRefused_data()
    {
        QTest::addColumn<QByteArray>("archive");
        QTest::addColumn<QString>("word");
        const auto row = [](const char *name, const Members &members, const char *word) {
            QTest::newRow(name) << QByteArray::fromStdString(tarGz(members)) << QString(word);
        };
        row("parent", {{"a/b", "x"}, {"../escaped_1", "x"}}, "outside");
        row("parent inside", {{"a/../../escaped_2", "x"}}, "outside");
        row("parent folder", {{"..", "", AE_IFDIR}, {"a", "x"}}, "outside");
        row("absolute", {{"/tmp/escaped_3", "x"}}, "outside");
        row("symbolic link", {{"a", "", AE_IFLNK, "/etc"}, {"a/escaped_4", "x"}}, "link");
        row("link inside", {{"b", "x"}, {"a", "", AE_IFLNK, "b"}}, "link");
        row("hard link", {{"a", "", AE_IFREG, "/etc/passwd"}}, "link");
        row("device", {{"a", "", AE_IFCHR}}, "neither");
        row("pipe", {{"a", "", AE_IFIFO}}, "neither");
        row("twice", {{"a", "x"}, {"./a", "y"}}, "twice");
        row("file as folder", {{"a", "x"}, {"a/b", "y"}}, "a");
        row("bomb", {{"a", std::string(2'000'000, '\0')}}, "more than 1.0 MB");
        row("nothing", {{"a/", "", AE_IFDIR}}, "no files");
        const std::string good = tarGz({{"a", noise(50'000)}});
        QTest::newRow("cut") << QByteArray::fromStdString(good.substr(0, 20'000)) << QString("cut short or damaged");
        QTest::newRow("a page") << QByteArray("<html>404</html>") << QString("cut short or damaged");
        QTest::newRow("empty") << QByteArray() << QString("");
    }
    void whatIsRefused()
    {
        QFETCH(QByteArray, archive);
        QFETCH(QString, word);
        const Status status = unpackBytes(archive.toStdString());
        QVERIFY(!status.ok());
        QVERIFY2(status.error().message().find(word.toStdString()) != std::string::npos, status.error().message().c_str());
        QVERIFY(QDir(m_dir->path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden).size() <= 2);
        for (int i = 1; i < 5; ++i) QVERIFY(!QFile::exists(QString("/tmp/escaped_%1").arg(i)));
    }

    void tooManyFiles()
    {
        Members members;
        for (int i = 0; i < 1'001; ++i) members.push_back({"a" + std::to_string(i), ""});
        QVERIFY(unpackBytes(tarGz(members)).error().what.find("more than 1000 files") != std::string::npos);
    }

    void neverIntoWhatIsThere()
    {
        QDir().mkpath(m_dir->filePath("out"));
        QVERIFY(!unpackBytes(tarGz({{"a", "x"}})).ok());
    }
};

QTEST_GUILESS_MAIN(TestUnpack)
#include "tst_unpack.moc"
