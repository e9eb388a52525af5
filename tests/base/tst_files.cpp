// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/atomicfile.h"
#include "core/base/paths.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace parallax;
namespace fs = std::filesystem;

class Files : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    fs::path m_folder{m_dir.path().toStdString()};

    std::size_t entries() const { return std::size_t(std::distance(fs::directory_iterator(m_folder), {})); }

private Q_SLOTS:
    void cleanup()
    {
        for (const auto &entry : fs::directory_iterator(m_folder)) fs::remove_all(entry);
    }

    void committedFileReplacesTheOldOne()
    {
        const fs::path path = m_folder / "a.json";
        QVERIFY(writeFileAtomic(path, "old"));
        auto file = AtomicFile::create(path);
        QVERIFY(file);
        QVERIFY(file->write("new text", 8));
        QCOMPARE(readFile(path).value(), std::string("old"));
        QVERIFY(fs::exists(m_folder / (".a.json." + std::to_string(::getpid()) + ".tmp")));
        QVERIFY(file->commit());
        QCOMPARE(readFile(path).value(), std::string("new text"));
        QCOMPARE(entries(), std::size_t(1));
    }

    void abandonedFileLeavesTheOldOne()
    {
        const fs::path path = m_folder / "a.json";
        QVERIFY(writeFileAtomic(path, "old"));
        {
            auto file = AtomicFile::create(path);
            QVERIFY(file && file->write("new", 3));
        }
        QCOMPARE(readFile(path).value(), std::string("old"));
        QCOMPARE(entries(), std::size_t(1));
    }

    void leftoversOfAKilledProcessGo()
    {
        const fs::path path = m_folder / "a.json";
        const pid_t child = ::fork();
        if (child == 0) {
            auto file = AtomicFile::create(path);
            ::raise(SIGKILL);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status));
        QCOMPARE(entries(), std::size_t(1));
        std::ofstream(m_folder / ".notes.1.tmp") << "of somebody else";
        std::ofstream(m_folder / ".a.json.mine.tmp") << "of somebody else";

        auto living = AtomicFile::create(path);
        QVERIFY(living);
        QVERIFY(writeFileAtomic(m_folder / "b.json", "x"));
        QVERIFY(living->commit());
        QCOMPARE(entries(), std::size_t(4)); // a.json, b.json and the two that are not ours
    }

    void whatDoesNotFitIsToldInNumbers()
    {
        const Error full = systemError(ENOSPC, m_folder / "a.bin", "written", std::size_t(1) << 62);
        QVERIFY2(full.message().find("disk full") != std::string::npos, full.message().c_str());
        // Room, and yet no room: a quota, or no file may be added.
        const Error quota = systemError(ENOSPC, m_folder / "a.bin", "written", 100);
        QVERIFY2(quota.message().find("df -i") != std::string::npos, quota.message().c_str());
        // A limit on the file size needs no rights and stops a write in the same way.
        const fs::path path = m_folder / "a.bin";
        QVERIFY(writeFileAtomic(path, "old"));
        const auto previous = std::signal(SIGXFSZ, SIG_IGN);
        rlimit before{};
        QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
        const rlimit small{10'000, before.rlim_max};
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const Status status = writeFileAtomic(path, std::string(25'000, 'x'));
        ::setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, previous);

        QVERIFY(!status);
        const std::string message = status.error().message();
        for (const char *part : {"a.bin", "ulimit -f", "25 kB asked for", "free)"})
            QVERIFY2(message.find(part) != std::string::npos, message.c_str());
        QCOMPARE(readFile(path).value(), std::string("old"));
        QCOMPARE(entries(), std::size_t(1));
    }

    void placesThatCannotBeWrittenAreNamed()
    {
        const Status status = writeFileAtomic(m_folder / "missing" / "a.json", "x");
        QVERIFY(!status);
        QVERIFY(status.error().message().find("missing/a.json") != std::string::npos);
        QVERIFY(status.error().message().find("No such file") != std::string::npos);
    }

    void readFileRefusesWhatIsNoFile()
    {
        QVERIFY(!readFile(m_folder / "missing"));
        QVERIFY(readFile(m_folder).error().message().find("is a folder") != std::string::npos);
        QCOMPARE(::mkfifo((m_folder / "pipe").c_str(), 0600), 0);
        QVERIFY(!readFile(m_folder / "pipe")); // must not wait for a writer
        QVERIFY(writeFileAtomic(m_folder / "ten", "0123456789"));
        QVERIFY(readFile(m_folder / "ten", 10));
        QVERIFY(readFile(m_folder / "ten", 9).error().message().find("too large") != std::string::npos);
        QVERIFY(!readFile("/proc/self/stat")->empty()); // says that it has 0 bytes
    }

    void runtimeFolderIsPrivate()
    {
        qputenv("XDG_RUNTIME_DIR", m_dir.path().toUtf8());
        fs::create_directory(m_folder / "parallax");
        fs::permissions(m_folder / "parallax", fs::perms(0777));
        QCOMPARE(paths::runtime(), m_folder / "parallax");
        QCOMPARE(fs::status(m_folder / "parallax").permissions(), fs::perms::owner_all);

        fs::remove(m_folder / "parallax");
        fs::create_directory_symlink("/", m_folder / "parallax"); // somebody else's idea of our folder
        const fs::path other = paths::runtime();
        QVERIFY(other != m_folder / "parallax");
        QCOMPARE(fs::status(other).permissions(), fs::perms::owner_all);
        qunsetenv("XDG_RUNTIME_DIR");
    }

    void foldersFollowTheEnvironment()
    {
        qputenv("XDG_DATA_HOME", "/data");
        qputenv("XDG_CACHE_HOME", "relative");
        qputenv("HOME", "/home/someone");
        QCOMPARE(paths::defaultRuns(), fs::path("/data/parallax/runs"));
        QCOMPARE(paths::cache(), fs::path("/home/someone/.cache/parallax"));
        qputenv("PARALLAX_RUNS", "/elsewhere");
        QCOMPARE(paths::defaultRuns(), fs::path("/elsewhere"));
        qunsetenv("PARALLAX_RUNS");
        QCOMPARE(paths::executableDir(), fs::path(QCoreApplication::applicationDirPath().toStdString()));
        QVERIFY(paths::freeSpace(m_folder / "not" / "there") > 0);
    }

    void unknownVariablesAreFound()
    {
        qputenv("PARALLAX_RUN", "/x");
        qputenv("PARALLAX_SOMETHING_ELSE", "1");
        qputenv("PARALLAX_WORKER", "/x");
        const auto found = paths::unknownEnvironment();
        qunsetenv("PARALLAX_RUN");
        qunsetenv("PARALLAX_SOMETHING_ELSE");
        qunsetenv("PARALLAX_WORKER");
        QCOMPARE(found, (std::vector<std::string>{"PARALLAX_RUN (did you mean PARALLAX_RUNS?)", "PARALLAX_SOMETHING_ELSE"}));
    }
};

QTEST_GUILESS_MAIN(Files)
#include "tst_files.moc"
