// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
//
// Decoded images on disk: the same views, decoded once by whoever comes first, and nothing that happens to the files matters.
#include "core/engine/data/loader.h"
#include "core/engine/data/source.h"
#include "core/engine/data/storeddataset.h"
#include "tests/engine/data/datatest.h"

#include <opencv2/imgproc.hpp>

#include <QTest>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace fs = std::filesystem;

namespace {

cv::Mat busy(int width, int height, int seed)
{
    cv::Mat small(height / 5 + 2, width / 5 + 2, CV_8UC3), large;
    cv::RNG rng(std::uint64_t(seed) + 1);
    rng.fill(small, cv::RNG::UNIFORM, 0, 256);
    cv::resize(small, large, {width, height}, 0, 0, cv::INTER_CUBIC);
    return large;
}

/// Passes everything on and counts what is decoded.
class Counted : public Dataset
{
public:
    explicit Counted(std::shared_ptr<const Dataset> inner) : m_inner(std::move(inner)) { m_source = m_inner->source(); }
    std::int64_t size() const override { return m_inner->size(); }
    Item item(std::int64_t index) const override { return m_inner->item(index); }
    Result<cv::Mat> image(std::int64_t index) const override { return imageFor(index, {}); }
    Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const override
    {
        ++decoded;
        return m_inner->imageFor(index, demand);
    }
    Result<DecodedImage> inspect(std::int64_t index) const override { return m_inner->inspect(index); }
    std::optional<std::string> identity(std::int64_t index) const override { return m_inner->identity(index); }

    mutable std::atomic<int> decoded = 0;

private:
    std::shared_ptr<const Dataset> m_inner;
};

/// A folder of JPEG and PNG pictures, small and large, and a place for stores.
class Place
{
public:
    explicit Place(int count = 6, cv::Size size = {}) : m_count(count), m_size(size)
    {
        for (int i = 0; i < count; ++i) write(i, i);
    }
    void write(int number, int seed) const
    {
        static const std::vector<cv::Size> sizes{{90, 70}, {1300, 900}, {64, 120}, {900, 1300}, {1000, 800}};
        const char *format = number % 3 == 2 ? ".png" : ".jpg";
        std::vector<std::uint8_t> bytes;
        const cv::Size size = m_size.empty() ? sizes[std::size_t(number) % 5] : m_size;
        cv::imencode(format, busy(size.width, size.height, seed), bytes);
        writeFileTo(
            m_dir.filePath(QStringLiteral("images/%1%2").arg(number, 3, 10, QLatin1Char('0')).arg(QLatin1String(format))),
            {bytes.begin(), bytes.end()});
    }
    fs::path images() const { return m_dir.filePath("images").toStdString(); }
    fs::path root() const { return m_dir.filePath("decoded").toStdString(); }
    std::shared_ptr<const Dataset> plain() const { return openFolder(images())->train; }
    PixelStore::Options options(const std::string &name = "here", std::uint64_t limit = std::uint64_t(1) << 30) const
    {
        return {.root = root(), .name = name, .limit = limit, .images = m_count};
    }
    std::vector<fs::path> segments() const
    {
        std::vector<fs::path> files;
        for (const auto &entry : fs::recursive_directory_iterator(root()))
            if (entry.path().extension() == ".pixels") files.push_back(entry.path());
        std::ranges::sort(files);
        return files;
    }

private:
    QTemporaryDir m_dir;
    int m_count;
    cv::Size m_size; ///< of all pictures; empty: several
};

std::vector<ViewSpec> twoViews(int size)
{
    AugmentConfig augment;
    augment.size = size;
    augment.cropMin = 0.4;
    return {{augment}, {augment}};
}

/// All views of two epochs, and how often an image was unreadable.
std::vector<std::vector<float>> epochs(const std::shared_ptr<const Dataset> &data, const std::vector<ViewSpec> &views,
                                       int threads)
{
    std::vector<std::vector<float>> made;
    for (int epoch = 0; epoch < 2; ++epoch) {
        Loader loader(data, views, {permutation(data->size(), 3, epoch)}, {.seed = 3, .epoch = epoch, .threads = threads});
        auto batch = loader.next();
        if (!batch || !*batch || !loader.takeUnreadable().empty()) return {};
        for (auto &view : (*batch)->views) made.push_back(std::move(view));
    }
    return made;
}

struct Opened {
    std::shared_ptr<const Counted> counted;
    std::shared_ptr<const StoredDataset> stored;
    int decoded() const { return counted->decoded; }
};

Opened open(const Place &place, PixelStore::Options options)
{
    auto counted = std::make_shared<const Counted>(place.plain());
    return {counted, std::make_shared<const StoredDataset>(counted, std::move(options))};
}
Opened open(const Place &place) { return open(place, place.options()); }

bool sameImages(const Dataset &a, const Dataset &b)
{
    for (std::int64_t i = 0; i < a.size(); ++i) {
        const auto one = a.image(i), other = b.image(i);
        if (!one || !other || one->size() != other->size() || cv::norm(*one, *other, cv::NORM_INF) != 0) return false;
    }
    return a.size() == b.size();
}

void overwrite(const fs::path &file, std::uint64_t at, const std::string &bytes)
{
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(std::streamoff(at));
    out << bytes;
}

} // namespace

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

QTEST_GUILESS_MAIN(Stored)
#include "tst_stored.moc"
