// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Decoded images on disk: the same views, decoded once by whoever comes first, and nothing that happens to the files matters.
#include "tests/engine/data/storedtest.h"

#include <QTest>

#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace fs = std::filesystem;

class Stored : public QObject
{
    Q_OBJECT

private slots:
    void viewsAreThoseOfDecoding_data()
    {
        QTest::addColumn<int>("threads");
        QTest::newRow("one thread") << 1;
        QTest::newRow("three threads") << 3;
    }

    void viewsAreThoseOfDecoding()
    {
        QFETCH(int, threads);
        const Place place;
        const auto views = twoViews(48);
        const auto wanted = epochs(place.plain(), views, 1);
        QCOMPARE(wanted.size(), std::size_t(4));
        {
            const auto first = open(place);
            QVERIFY(epochs(first.stored, views, threads) == wanted);
            QCOMPARE(first.decoded(), 6);
            QVERIFY(first.stored->takeNotices().empty());
        }
        const auto later = open(place);
        QVERIFY(epochs(later.stored, views, threads) == wanted);
        QCOMPARE(later.decoded(), 0);
        QVERIFY(later.stored->takeNotices().empty());
        // Larger views want more pixels of the large JPEG pictures than were kept: three of the six.
        const auto larger = twoViews(200);
        QVERIFY(epochs(later.stored, larger, threads) == epochs(place.plain(), larger, 1));
        QVERIFY(later.decoded() > 0 && later.decoded() <= 3);
        QVERIFY(epochs(later.stored, views, threads) == wanted); // both sizes are there now
        QVERIFY(later.decoded() <= 3);
    }

    void aChangedFileIsDecodedAgain()
    {
        const Place place;
        (void)epochs(open(place).stored, twoViews(32), 1);
        place.write(2, 77);
        const auto later = open(place);
        QVERIFY(epochs(later.stored, twoViews(32), 1) == epochs(place.plain(), twoViews(32), 1));
        QCOMPARE(later.decoded(), 1);
        fs::last_write_time(place.images() / "003.jpg", fs::file_time_type::clock::now() - std::chrono::hours(1));
        (void)epochs(later.stored, twoViews(32), 1); // by its time alone, while the store is open
        QCOMPARE(later.decoded(), 2);
    }

    /// Images are told by their own files, wherever they are listed.
    void aListSharesNothingWithAFolderButItsRules()
    {
        const Place place;
        writeFileTo(QString::fromStdString((place.images() / "list.csv").string()), "path\n000.jpg\n002.png\n");
        const auto list = openSource((place.images() / "list.csv").string(), "data.source");
        QVERIFY(list.ok());
        QCOMPARE(QString::fromStdString(*list->train->identity(1)), QString::fromStdString(*place.plain()->identity(2)));
        QVERIFY(*list->train->identity(0) != *list->train->identity(1));
    }

    void damageIsDecodedAgainAndSaidOnce()
    {
        const Place place;
        QVERIFY(sameImages(*open(place).stored, *place.plain()));
        const auto files = place.segments();
        QCOMPARE(files.size(), std::size_t(1));
        // Inside the pixels of two pictures: the first, and one far behind.
        overwrite(files[0], 500, "damage");
        overwrite(files[0], fs::file_size(files[0]) - 100, "damage");
        {
            const auto later = open(place);
            for (int round = 0; round < 3; ++round) QVERIFY(sameImages(*later.stored, *place.plain()));
            QCOMPARE(later.decoded(), 2);
            const auto notices = later.stored->takeNotices();
            QCOMPARE(notices.size(), std::size_t(1));
            QVERIFY2(notices[0].find("damaged") != std::string::npos, notices[0].c_str());
        }
        const auto mended = open(place);
        QVERIFY(sameImages(*mended.stored, *place.plain()));
        QCOMPARE(mended.decoded(), 0);
        QVERIFY(mended.stored->takeNotices().empty());
    }

    void aDamagedHeadCostsWhatFollowsIt()
    {
        const Place place;
        QVERIFY(sameImages(*open(place).stored, *place.plain()));
        overwrite(place.segments()[0], 40, "damage"); // the head of the first block
        {
            const auto later = open(place);
            QVERIFY(sameImages(*later.stored, *place.plain()));
            QCOMPARE(later.decoded(), 6);
            QCOMPARE(later.stored->takeNotices().size(), std::size_t(1));
        }
        const auto mended = open(place);
        QVERIFY(sameImages(*mended.stored, *place.plain()));
        QCOMPARE(mended.decoded(), 0);
        QCOMPARE(mended.stored->takeNotices().size(), std::size_t(0));
    }

    /// No length in a file is trusted: every byte of its start, one after the other, and files that are none.
    void anyBytesAtAll()
    {
        const Place place(2);
        QVERIFY(sameImages(*open(place).stored, *place.plain()));
        const auto file = place.segments().at(0);
        const std::string whole = bytesOf(QString::fromStdString(file.string()));
        for (std::size_t at = 0; at < 120; ++at) {
            std::string bytes = whole;
            bytes[at] = char(bytes[at] ^ 0xff);
            fs::remove(file);
            writeFileTo(QString::fromStdString(file.string()), bytes);
            QVERIFY2(sameImages(*open(place).stored, *place.plain()), std::to_string(at).c_str());
            for (const auto &other : place.segments()) fs::remove(other);
        }
        for (const std::string &bytes :
             {std::string(), std::string("PLXPIXEL"), std::string(5000, '\0'), whole.substr(0, 700)}) {
            writeFileTo(QString::fromStdString(file.string()), bytes);
            QVERIFY(sameImages(*open(place).stored, *place.plain()));
            for (const auto &other : place.segments()) fs::remove(other);
        }
    }

    void aFileCutWhileItIsInUse()
    {
        const Place place;
        const auto opened = open(place);
        QVERIFY(sameImages(*opened.stored, *place.plain()));
        fs::resize_file(place.segments()[0], 100'000);
        QVERIFY(sameImages(*opened.stored, *place.plain()));
        fs::remove_all(place.root());
        QVERIFY(sameImages(*opened.stored, *place.plain()));
    }

    /// The writer was killed between the pixels and their head.
    void theHalfWrittenIsNotRead()
    {
        const Place place;
        {
            const auto first = open(place);
            for (std::int64_t i = 0; i < 3; ++i) QVERIFY(first.stored->image(i).ok());
        }
        const auto file = place.segments()[0];
        const auto before = fs::file_size(file);
        std::ofstream(file, std::ios::app | std::ios::binary)
            << std::string(96 + before % 16, '\0') << std::string(400'000, 'x');
        const auto later = open(place);
        QVERIFY(sameImages(*later.stored, *place.plain()));
        QCOMPARE(later.decoded(), 3);
        QVERIFY(later.stored->takeNotices().empty());
        QCOMPARE(place.segments().size(), std::size_t(1)); // it goes on where the dead writer stopped
        const auto third = open(place);
        QVERIFY(sameImages(*third.stored, *place.plain()));
        QCOMPARE(third.decoded(), 0);
    }

    void severalProcessesAtOnce()
    {
        const Place place(12);
        constexpr int processes = 3;
        std::vector<pid_t> children;
        for (int p = 0; p < processes; ++p) {
            const pid_t child = ::fork();
            if (child == 0) { // each from another image on, so that they meet
                const auto opened = open(place);
                const auto plain = place.plain();
                bool same = true;
                for (int round = 0; round < 2; ++round)
                    for (std::int64_t i = 0; i < 12; ++i) {
                        const std::int64_t index = (i + 4 * p) % 12;
                        const auto image = opened.stored->image(index), wanted = plain->image(index);
                        same = same && image && wanted && cv::norm(*image, *wanted, cv::NORM_INF) == 0;
                    }
                ::_exit(same && opened.stored->takeNotices().empty() ? 0 : 1);
            }
            children.push_back(child);
        }
        for (const pid_t child : children) {
            int status = -1;
            QCOMPARE(::waitpid(child, &status, 0), child);
            QCOMPARE(status, 0);
        }
        const auto later = open(place);
        QVERIFY(sameImages(*later.stored, *place.plain()));
        QCOMPARE(later.decoded(), 0);
        QVERIFY(later.stored->takeNotices().empty());
    }

    /// What another rank has decoded in the first epoch is found in the second.
    void ranksShareWhileTheyRun()
    {
        const Place place;
        const auto one = open(place), other = open(place);
        for (std::int64_t i = 0; i < 6; ++i) QVERIFY((i % 2 ? one : other).stored->image(i).ok());
        QTest::qWait(1100); // a store looks for others' once a second
        QVERIFY(sameImages(*one.stored, *place.plain()));
        QVERIFY(sameImages(*other.stored, *place.plain()));
        QCOMPARE(one.decoded() + other.decoded(), 6);
    }
};

QTEST_GUILESS_MAIN(Stored)
#include "tst_stored.moc"
