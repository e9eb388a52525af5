// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Decoded images on disk where room ends: disks, quotas, the setting itself.
#include "tests/engine/data/storedtest.h"

#include <QTest>

#include <csignal>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace fs = std::filesystem;

class StoredLimits : public QObject
{
    Q_OBJECT

private slots:
    void aFullDiskEndsTheKeepingNotTheRun()
    {
        const Place place;
        const auto opened = open(place);
        QVERIFY(opened.stored->image(0).ok());
        const auto previous = std::signal(SIGXFSZ, SIG_IGN);
        rlimit before{};
        QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
        rlimit small = before;
        small.rlim_cur = 200'000;
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const bool same = sameImages(*opened.stored, *place.plain()) && sameImages(*opened.stored, *place.plain());
        ::setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, previous);
        QVERIFY(same);
        QCOMPARE(opened.stored->takeNotices().size(), std::size_t(1));
        QVERIFY(fs::file_size(place.segments()[0]) < 200'000); // nothing half-written is left
        const auto later = open(place);
        QVERIFY(sameImages(*later.stored, *place.plain()));
        QVERIFY(later.stored->takeNotices().empty());
    }

    /// The signal that ends programs which write too much never comes.
    void theShellsLimitIsKept()
    {
        const Place place;
        const pid_t child = ::fork();
        if (child == 0) {
            const rlimit small{100'000, 100'000};
            ::setrlimit(RLIMIT_FSIZE, &small);
            const auto opened = open(place);
            const bool same = sameImages(*opened.stored, *place.plain());
            ::_exit(same && opened.stored->takeNotices().size() == 1 ? 0 : 1);
        }
        int status = -1;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(status, 0);
    }

    void aFolderThatCannotBeMade()
    {
        const Place place;
        writeFileTo(QString::fromStdString(place.root().string()), "a file");
        const auto opened = open(place);
        QVERIFY(sameImages(*opened.stored, *place.plain()));
        QCOMPARE(opened.stored->takeNotices().size(), std::size_t(1));
        QVERIFY(opened.stored->takeNotices().empty());
    }

    void theLimitHoldsForAllTogether()
    {
        const Place place(12, {500, 400});        // 7.2 MB: two segments
        constexpr std::uint64_t limit = 16 << 20; // 4 segments of 4 MB
        std::int64_t stamp = 0;
        for (const char *name : {"a", "b", "c", "d", "e"}) {
            const auto opened = open(place, place.options(name, limit));
            (void)epochs(opened.stored, twoViews(100), 1);
            std::uintmax_t sum = 0;
            for (const auto &file : place.segments()) sum += fs::file_size(file);
            QVERIFY(sum <= limit);
            QVERIFY(opened.stored->takeNotices().empty());
            for (const auto &file : place.segments()) // older than whatever comes
                if (fs::last_write_time(file) > fs::file_time_type::clock::now() - std::chrono::hours(1))
                    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(100 - ++stamp));
        }
        // The last one is whole, the first has gone.
        const auto last = open(place, place.options("e", limit));
        (void)epochs(last.stored, twoViews(100), 1);
        QCOMPARE(last.decoded(), 0);
        const auto first = open(place, place.options("a", limit));
        (void)epochs(first.stored, twoViews(100), 1);
        QVERIFY(first.decoded() > 0);
    }

    void whatDoesNotFitIsSaidOnce()
    {
        const Place place(12, {500, 400});
        const auto opened = open(place, place.options("here", 5 << 20)); // one segment of 4 MB
        for (int round = 0; round < 2; ++round) QVERIFY(sameImages(*opened.stored, *place.plain()));
        const auto notices = opened.stored->takeNotices();
        QCOMPARE(notices.size(), std::size_t(1));
        QVERIFY2(notices[0].find("data.cache_size") != std::string::npos, notices[0].c_str());
    }

    /// All files were written anew: what was kept of the old ones makes room, once every image has been asked for.
    void whatIsOfNoUseMakesRoom()
    {
        const Place place(12, {500, 400});
        const auto options = place.options("here", 9 << 20); // two segments
        QVERIFY(sameImages(*open(place, options).stored, *place.plain()));
        for (int i = 0; i < 12; ++i) place.write(i, 50 + i);
        {
            const auto later = open(place, options);
            for (int round = 0; round < 3; ++round) QVERIFY(sameImages(*later.stored, *place.plain()));
            QVERIFY(later.decoded() > 12 && later.decoded() <= 24);
            QVERIFY(later.stored->takeNotices().empty());
        }
        const auto last = open(place, options);
        QVERIFY(sameImages(*last.stored, *place.plain()));
        QCOMPARE(last.decoded(), 0);
    }

    void theSettingChoosesIt()
    {
        const Place place;
        const QByteArray before = qgetenv("XDG_CACHE_HOME");
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString(place.root().string()));
        std::vector<std::vector<float>> made[3];
        const char *choices[] = {"memory", "disk", "off"};
        for (int i = 0; i < 3; ++i) {
            DataConfig config;
            config.source = place.images().string();
            config.cache = choices[i];
            made[i] = epochs(openData(config, 1)->train, twoViews(48), 2);
            QCOMPARE(fs::exists(place.root() / "parallax/decoded"), i > 0);
        }
        qputenv("XDG_CACHE_HOME", before);
        QVERIFY(!made[0].empty() && made[0] == made[1] && made[1] == made[2]);
        QCOMPARE(place.segments().size(), std::size_t(1));
    }
};

QTEST_GUILESS_MAIN(StoredLimits)
#include "tst_storedlimits.moc"
