// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/folderindex.h"
#include "core/engine/data/folderscan.h"
#include "core/engine/data/quarantine.h"
#include "core/engine/data/source.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

Names namesOf(const PathList &files)
{
    Names names;
    for (std::size_t i = 0; i < files.size(); ++i) names.emplace_back(files[i]);
    return names;
}

/// As if the last change lay an hour back: what changed within two seconds of a scan is not relied on.
void settle(const fs::path &path)
{
    timespec times[2]{};
    times[0].tv_sec = times[1].tv_sec = ::time(nullptr) - 3600;
    if (::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) qFatal("no time for %s", path.c_str());
}

void settleAll(const fs::path &root)
{
    for (const auto &entry : fs::recursive_directory_iterator(root)) settle(entry.path());
    settle(root);
}

} // namespace

class TestIndex : public QObject
{
    Q_OBJECT

private:
    FolderScan scan(std::size_t indexFrom = 0, int threads = 3)
    {
        auto found = scanFolder(root(), {indexes(), indexFrom, threads});
        if (!found) qFatal("%s", found.error().message().c_str());
        return std::move(*found);
    }
    fs::path root() const { return m_dir->filePath("images").toStdString(); }
    fs::path indexes() const { return m_dir->filePath("cache/index").toStdString(); }
    void add(const QString &file, const std::string &bytes = "x") const
    {
        writeFileTo(m_dir->filePath("images/" + file), bytes);
    }
    std::unique_ptr<QTemporaryDir> m_dir;

private slots:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        for (const char *file : {"b/2.png", "b/1.png", "a/x/y/3.png", "a/4.jpg", "a b/5.png", "6.png", "a/notes.txt", "c/7"})
            add(file, "\x89PNG\r\n");
        settleAll(root());
    }

    void theIndexGivesTheSame()
    {
        const FolderScan first = scan(), second = scan(), alone = scan(1'000'000, 1);
        QVERIFY(namesOf(first.files) ==
                (Names{"6.png", "a b/5.png", "a/4.jpg", "a/x/y/3.png", "b/1.png", "b/2.png", "c/7"}));
        QVERIFY(namesOf(second.files) == namesOf(first.files) && namesOf(alone.files) == namesOf(first.files));
        QVERIFY(first.passedOver == second.passedOver);
        QCOMPARE(first.foldersRead, std::size_t(7));
        QCOMPARE(second.foldersRead, std::size_t(0));
        QCOMPARE(second.foldersKept, std::size_t(7));
    }

    void smallFoldersGetNone()
    {
        scan(16);
        QVERIFY(!fs::exists(indexes()));
        scan(14); // seven files and seven folders
        QVERIFY(fs::exists(indexFile(indexes(), root())));
        for (const auto &entry : fs::recursive_directory_iterator(root()))
            QVERIFY(entry.path().filename().string().find("index") == std::string::npos); // nothing in the user's folder
    }

    void whatComesAndGoes()
    {
        scan();
        add("b/0.png");
        add("d/new.png");
        QFile::remove(m_dir->filePath("images/a/4.jpg"));
        const FolderScan changed = scan();
        QVERIFY(namesOf(changed.files) ==
                (Names{"6.png", "a b/5.png", "a/x/y/3.png", "b/0.png", "b/1.png", "b/2.png", "c/7", "d/new.png"}));
        QCOMPARE(changed.foldersRead, std::size_t(4)); // the root, a, b, d
        QVERIFY(QDir(m_dir->filePath("images/a")).removeRecursively());
        settleAll(root());
        const FolderScan less = scan();
        QVERIFY(namesOf(less.files) == (Names{"6.png", "a b/5.png", "b/0.png", "b/1.png", "b/2.png", "c/7", "d/new.png"}));
        QVERIFY(less.passedOver.empty());
        QVERIFY(QDir().rename(m_dir->filePath("images/b"), m_dir->filePath("images/e")));
        QVERIFY(namesOf(scan().files) == (Names{"6.png", "a b/5.png", "c/7", "d/new.png", "e/0.png", "e/1.png", "e/2.png"}));
    }

    void aFolderThatLostAllItsFiles()
    {
        scan();
        QFile::remove(m_dir->filePath("images/b/1.png"));
        QFile::remove(m_dir->filePath("images/b/2.png"));
        QVERIFY(namesOf(scan().files) == (Names{"6.png", "a b/5.png", "a/4.jpg", "a/x/y/3.png", "c/7"}));
    }

    void anotherFolderUnderTheSameName()
    {
        scan();
        QVERIFY(QDir().rename(m_dir->filePath("images/b"), m_dir->filePath("old")));
        add("b/9.png");
        settleAll(root());
        QVERIFY(namesOf(scan().files).at(4) == "b/9.png");
    }

    void changesWithinTwoSecondsAreNotRelied()
    {
        add("b/3.png"); // the folder's time is now
        scan();
        const FolderScan again = scan();
        QCOMPARE(again.foldersRead, std::size_t(1));
        settleAll(root());
        scan(); // its time is another one now, and far enough back
        QCOMPARE(scan().foldersRead, std::size_t(0));
    }

    void aFileWithoutExtensionThatChanges()
    {
        scan();
        add("c/7", "no image any more"); // its folder's time stays
        const FolderScan changed = scan();
        QCOMPARE(changed.files.size(), std::size_t(6));
        QVERIFY(changed.passedOver.at("without extension") == 1);
    }

    void contentOfOtherFilesChangesNothing()
    {
        scan();
        add("b/1.png", "other bytes, another length");
        QCOMPARE(scan().foldersRead, std::size_t(0));
    }

    void brokenLinksAreLookedAtEveryTime()
    {
        QVERIFY(QFile::link(m_dir->filePath("elsewhere"), m_dir->filePath("images/b/link.png")));
        settleAll(root());
        QCOMPARE(scan().files.size(), std::size_t(8));
        QCOMPARE(scan().foldersRead, std::size_t(1));
        QDir().mkpath(m_dir->filePath("elsewhere"));
        writeFileTo(m_dir->filePath("elsewhere/10.png"), "x");
        const Names names = namesOf(scan().files);
        QVERIFY(std::ranges::count(names, "b/link.png/10.png") == 1 && std::ranges::count(names, "b/link.png") == 0);
    }

    void damagedIndexesAreMadeAnew()
    {
        const Names names = namesOf(scan().files);
        const QString file = QString::fromStdString(indexFile(indexes(), root()).string());
        const std::string good = bytesOf(file);
        QVERIFY(readIndex(indexes(), root()));
        std::vector<std::string> bad{
            "", "PLXINDEX", good.substr(0, 40), good.substr(0, good.size() - 1), good + "x", std::string(200, '\0')};
        for (std::size_t i = 0; i < good.size(); i += 7) {
            bad.push_back(good);
            bad.back()[i] = char(bad.back()[i] ^ 0x20);
        }
        for (const auto &bytes : bad) {
            writeFileTo(file, bytes);
            QVERIFY(!readIndex(indexes(), root()));
        }
        QVERIFY(namesOf(scan().files) == names);
        QVERIFY(bytesOf(file) == good);
        // Another folder's, under this one's name.
        add("../other/1.png");
        QVERIFY(scanFolder(m_dir->filePath("other").toStdString(), {indexes(), 0, 1}).ok());
        const auto other = indexFile(indexes(), m_dir->filePath("other").toStdString());
        fs::copy_file(other, indexFile(indexes(), root()), fs::copy_options::overwrite_existing);
        QVERIFY(namesOf(scan().files) == names);
    }

    void noPlaceForAnIndex()
    {
        writeFileTo(m_dir->filePath("cache"), "a file");
        QCOMPARE(scan().files.size(), std::size_t(7));
        QCOMPARE(scan().foldersRead, std::size_t(7));
    }

    void oldIndexesGo()
    {
        fs::create_directories(indexes());
        for (int i = 0; i < 100; ++i) {
            const auto path = indexes() / (std::to_string(i) + ".index");
            writeFileTo(QString::fromStdString(path.string()), "x");
            settle(path);
        }
        scan();
        std::size_t left = 0;
        for (const auto &entry : fs::directory_iterator(indexes())) left += entry.path().extension() == ".index";
        QCOMPARE(left, std::size_t(64));
        QVERIFY(readIndex(indexes(), root()));
    }

    /// Whatever the number of threads: links are followed after all real folders, each folder once.
    void manyThreadsOneOrder()
    {
        for (int i = 0; i < 40; ++i)
            for (int j = 0; j < 5; ++j) add(QString("deep/%1/%2/%3.png").arg(i % 7).arg(i).arg(j));
        QVERIFY(QFile::link(m_dir->filePath("images/deep"), m_dir->filePath("images/again")));
        QVERIFY(QFile::link(m_dir->filePath("images"), m_dir->filePath("images/deep/3/loop")));
        const Names one = namesOf(scan(1'000'000, 1).files);
        QCOMPARE(one.size(), std::size_t(207));
        for (int i = 0; i < 5; ++i) QVERIFY(namesOf(scan(1'000'000, 8).files) == one);
    }

    void namesWithAnyBytes()
    {
        fs::create_directories(root() / "caf\xE9");
        const std::string name = (root() / "caf\xE9/\xFF\n.png").string();
        ::close(::open(name.c_str(), O_CREAT | O_WRONLY, 0600));
        settleAll(root());
        const Names names = namesOf(scan().files);
        QVERIFY(std::ranges::count(names, "caf\xE9/\xFF\n.png") == 1);
        QVERIFY(namesOf(scan().files) == names);
        fs::remove_all(root() / "caf\xE9"); // Qt cannot name it
    }

    void pathsInAList()
    {
        PathList list;
        for (const char *path : {"a", "a/b", "b", "c/d"}) list.add(path);
        QVERIFY(list.size() == 4 && list[0] == "a" && list[3] == "c/d");
        QCOMPARE(list.lowerBound(""), std::size_t(0));
        QCOMPARE(list.lowerBound("a/"), std::size_t(1));
        QCOMPARE(list.lowerBound("zzz"), std::size_t(4));
        QVERIFY(list.holds(2, "b") && !list.holds(2, "c") && !list.holds(4, ""));
    }

    void quarantineHoldsUntilTheFileChanges()
    {
        const Quarantine list(indexes(), root(), "");
        QVERIFY(list.read().empty());
        QVERIFY(list.write({{"a/4.jpg", "a\nreason"}, {"b/1.png", "cut short"}, {"gone.png", "missing"}, {"\xFF.png", "?"}})
                    .ok());
        const auto held = list.read();
        QCOMPARE(held.size(), std::size_t(3));
        QVERIFY(held.at("b/1.png") == "cut short");
        QVERIFY(Quarantine(indexes(), root(), "train/").read().empty()); // another part has another list
        add("b/1.png", "repaired");
        add("gone.png");
        settle(root() / "a/4.jpg");
        QVERIFY(list.read().count("b/1.png") == 0 && list.read().count("gone.png") == 0);
        writeFileTo(QString::fromStdString(list.file().string()), "{\"files\": 3}");
        QVERIFY(list.read().empty());
        writeFileTo(QString::fromStdString(list.file().string()), "[[[");
        QVERIFY(list.read().empty());
        QVERIFY(list.write({}).ok() && !fs::exists(list.file()));
    }
};

QTEST_GUILESS_MAIN(TestIndex)
#include "tst_index.moc"
