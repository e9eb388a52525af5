// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/datasets/get.h"

#include "tests/datasets/archives.h"
#include "tests/datasets/httpserver.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <fcntl.h>
#include <sys/file.h>

using namespace parallax;
using namespace parallax::datasets;
using namespace parallax::testing;

namespace {

/// Imagenette in small: an archive with a folder around train and val.
std::string pictures(std::size_t bytes = 1'000, const std::string &around = "imagenette2-160/")
{
    return tarGz({{around + "train/n01440764/1.JPEG", noise(bytes)}, {around + "val/n01440764/2.JPEG", noise(100)}});
}

} // namespace

/// Data sets from a server to their folder: as a library, and as `parallax data get`.
class TestGet : public QObject
{
    Q_OBJECT

private:
    GetRequest request(const std::string &bytes) const
    {
        GetRequest request;
        request.url = m_server->url("/imagenette2-160.tgz");
        request.sha256 = sha256(bytes);
        request.to = m_dir->path().toStdString();
        request.patience.attempts = 2;
        request.patience.pause = std::chrono::milliseconds(1);
        return request;
    }
    void serve(const std::string &bytes) { m_server->serve("/imagenette2-160.tgz", bytes); }
    QString folder() const { return m_dir->filePath("imagenette"); }
    QStringList inDir() const
    {
        return QDir(m_dir->path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden);
    }

    struct Output {
        int code = -1;
        QByteArray out, err;
    };
    Output parallax(const QStringList &words) const
    {
        QProcess process;
        process.start(PARALLAX_BIN_DIR "/parallax", words);
        Output output;
        if (process.waitForFinished(30'000) && process.exitStatus() == QProcess::NormalExit)
            output.code = process.exitCode();
        output.out = process.readAllStandardOutput();
        output.err = process.readAllStandardError();
        return output;
    }
    QStringList words(const std::string &bytes, const QStringList &more = {}) const
    {
        return QStringList{"data",
                           "get",
                           "imagenette",
                           "--url",
                           QString::fromStdString(request(bytes).url),
                           "--sha256",
                           QString::fromStdString(sha256(bytes)),
                           "--to",
                           m_dir->path()} +
            more;
    }

    std::unique_ptr<HttpServer> m_server;
    std::unique_ptr<QTemporaryDir> m_dir;
    const Published &m_set = *findPublished("imagenette");

private Q_SLOTS:
    void init()
    {
        m_server = std::make_unique<HttpServer>();
        m_dir = std::make_unique<QTemporaryDir>();
    }

    /// What is pinned looks like what it should be; the sizes of the two CIFARs and of STL-10 follow from their formats.
    void catalogue()
    {
        QCOMPARE(published().size(), config::builtInData.size());
        for (const config::BuiltInData &known : config::builtInData) {
            const Published *set = findPublished(std::string(known.name));
            QVERIFY(set && !set->files.empty() && !set->layout.empty() && !set->licence.empty() && !set->cite.empty());
            for (const RemoteFile &file : set->files) {
                QVERIFY(file.url.starts_with("http"));
                QCOMPARE(file.sha256.size(), std::size_t(64));
                QCOMPARE(file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos);
                QVERIFY(file.size > 0 && !file.name().empty());
            }
            std::uint64_t parts = 0;
            for (const Part &part : set->layout) parts += part.size;
            QVERIFY(!set->archive || set->unpacked >= parts);
        }
        QVERIFY(!findPublished("mnist"));
    }

    void toItsFolder()
    {
        const std::string bytes = pictures();
        serve(bytes);
        const auto got = get(m_set, request(bytes), {});
        QVERIFY2(got.ok(), got ? "" : got.error().message().c_str());
        QVERIFY(!got->already);
        QVERIFY(got->folder == folder().toStdString());
        QVERIFY(read(folder() + "/train/n01440764/1.JPEG") == noise(1'000));
        QCOMPARE(inDir(), QStringList{"imagenette"}); // neither archive nor scaffolding is left
        const auto again = get(m_set, request(bytes), {});
        QVERIFY(again.ok() && again->already);
        QCOMPARE(m_server->ranges().size(), std::size_t(1));
    }

    void archivesWithoutAFolderAround()
    {
        const std::string bytes = pictures(100, "");
        serve(bytes);
        QVERIFY(get(m_set, request(bytes), {}).ok());
        QVERIFY(QFile::exists(folder() + "/val/n01440764/2.JPEG"));
    }

    void fromAFileOrAShare()
    {
        const std::string bytes = pictures();
        write(m_dir->filePath("a share/imagenette2-160.tgz"), bytes);
        auto wanted = request(bytes);
        for (const QString place : {"a share/imagenette2-160.tgz", "a share/", "a share"}) {
            wanted.url = m_dir->filePath(place).toStdString();
            const auto got = get(m_set, wanted, {});
            QVERIFY2(got.ok(), got ? "" : got.error().message().c_str());
            QDir(folder()).removeRecursively();
        }
    }

    void whatIsPublishedHasOneChecksum()
    {
        const std::string bytes = pictures();
        serve(bytes);
        auto wanted = request(bytes);
        wanted.sha256.clear(); // the published one: these are other bytes, and too few
        const auto got = get(m_set, wanted, {});
        QVERIFY2(got.error().what.find("99 MB") != std::string::npos, got.error().what.c_str());
        QVERIFY(!QFile::exists(folder()));
    }

    void hostileArchivesLeaveNothing()
    {
        for (const auto &bytes : {tarGz({{"../escaped", "x"}}), tarGz({{"train", "", AE_IFLNK, "/etc"}}),
                                  tarGz({{"other/a", "x"}}), pictures().substr(0, 500)}) {
            serve(bytes);
            const auto got = get(m_set, request(bytes), {});
            QVERIFY(!got.ok());
            QVERIFY(!QFile::exists(folder()));
            QVERIFY(!QFile::exists(m_dir->filePath(".imagenette.loading/unpacked")));
            QVERIFY(!QFile::exists(QDir(m_dir->path()).filePath("../escaped")));
        }
        const std::string good = pictures(); // and nothing of them is in the way of the right one
        serve(good);
        QVERIFY(get(m_set, request(good), {}).ok());
    }

    void anotherFolderOfThatNameIsLeftAlone()
    {
        write(folder() + "/mine.txt", "precious");
        const auto got = get(m_set, request(pictures()), {});
        QVERIFY2(got.error().what.find("the folder train is missing") != std::string::npos, got.error().what.c_str());
        QVERIFY(read(folder() + "/mine.txt") == "precious");
    }

    void halfUnpackedIsNeverTakenForWhole()
    {
        const std::string bytes = pictures();
        serve(bytes);
        write(m_dir->filePath(".imagenette.loading/unpacked/imagenette2-160/train/n01440764/half.JPEG"), "x");
        write(m_dir->filePath(".imagenette.loading/imagenette2-160.tgz"), bytes); // an earlier process came so far
        QVERIFY(get(m_set, request(bytes), {}).ok());
        QVERIFY(!QFile::exists(folder() + "/train/n01440764/half.JPEG"));
        QVERIFY(m_server->ranges().empty());
    }

    void severalFiles()
    {
        Published set{config::fashionMnist, "two files", {}, false, 0, {{"a.gz", 5'000}, {"b.gz", 70}}, "none", "nobody"};
        set.files = {{"http://nowhere/a.gz", sha256(noise(5'000)), 5'000}, {"http://nowhere/b.gz", sha256(noise(70)), 70}};
        m_server->serve("/mirror/a.gz", noise(5'000));
        auto wanted = request({});
        wanted.sha256.clear();
        wanted.url = m_server->url("/mirror/");
        QVERIFY(!get(set, wanted, {}).ok()); // the second is missing
        QVERIFY(!QFile::exists(m_dir->filePath("fashion-mnist")));
        m_server->serve("/mirror/b.gz", noise(70));
        QVERIFY(get(set, wanted, {}).ok());
        QCOMPARE(m_server->ranges().size(), std::size_t(3)); // the first was kept
        QVERIFY(read(m_dir->filePath("fashion-mnist/b.gz")) == noise(70));
        wanted.sha256 = sha256("");
        QDir(m_dir->filePath("fashion-mnist")).removeRecursively();
        QCOMPARE(get(set, wanted, {}).error().where, std::string("--sha256"));
    }

    void twoAtOnce()
    {
        const QString staging = m_dir->filePath(".imagenette.loading");
        QDir().mkpath(staging);
        const int other = ::open(qPrintable(staging), O_RDONLY | O_DIRECTORY);
        QCOMPARE(::flock(other, LOCK_EX), 0);
        const auto got = get(m_set, request(pictures()), {});
        ::close(other);
        QVERIFY(got.error().what.find("another process") != std::string::npos);
    }

    void noRoom()
    {
        Published set = m_set;
        set.unpacked = std::uint64_t(1) << 60;
        QVERIFY(get(set, request(pictures()), {}).error().what.find("not enough room") != std::string::npos);
        QVERIFY(m_server->ranges().empty());
    }

    void commandLine()
    {
        const std::string bytes = pictures();
        serve(bytes);
        const Output list = parallax({"data", "get"});
        QCOMPARE(list.code, 0);
        QVERIFY(list.out.contains("stl10") && list.out.contains("licence"));
        const Output got = parallax(words(bytes));
        QVERIFY2(got.code == 0, got.err.constData());
        QVERIFY(got.out.contains("Apache-2.0"));
        QVERIFY2(got.out.contains("--data " + folder().toUtf8()), got.out.constData());
        QVERIFY(got.err.contains("100 %") || got.err.contains("loading"));
        const Output again = parallax(words(bytes, {"--json"}));
        QCOMPARE(again.code, 0);
        QVERIFY(again.out.contains("\"already\": true") && again.err.isEmpty());
        const Output typo = parallax({"data", "get", "cifar-10"});
        QCOMPARE(typo.code, 2);
        QVERIFY(typo.err.contains("Did you mean cifar10?"));
        QCOMPARE(parallax({"data", "get", "cifar10", "--sha256", "xyz"}).code, 2);
        m_server->answer({}, {.status = 404});
        QDir(folder()).removeRecursively();
        const Output failed = parallax(words(bytes, {"--json"}));
        QCOMPARE(failed.code, 1);
        QVERIFY(failed.out.contains("\"error\"") && failed.out.contains("404"));
    }

    void ctrlC()
    {
        const std::string bytes = pictures(400'000);
        serve(bytes);
        m_server->answer({{.stallAfter = 200'000}});
        QProcess process;
        process.start(PARALLAX_BIN_DIR "/parallax", words(bytes));
        const QString part = m_dir->filePath(".imagenette.loading/imagenette2-160.tgz.part");
        QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(part).size() >= 200'000, 20'000);
        ::kill(pid_t(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(20'000));
        QCOMPARE(process.exitCode(), 130);
        QVERIFY(process.readAllStandardError().contains("The same command goes on from here"));
        QVERIFY(QFileInfo(part).size() >= 200'000 && !QFile::exists(folder()));
        QCOMPARE(parallax(words(bytes)).code, 0);
        QCOMPARE(m_server->ranges().back(), std::string("bytes=200000-"));
        QVERIFY(read(folder() + "/train/n01440764/1.JPEG") == noise(400'000));
    }
};

QTEST_GUILESS_MAIN(TestGet)
#include "tst_get.moc"
