// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/datasets/download.h"

#include "tests/datasets/archives.h"
#include "tests/datasets/httpserver.h"

#include <QTemporaryDir>
#include <QTest>

using namespace parallax;
using namespace parallax::datasets;
using namespace parallax::testing;

using Answer = HttpServer::Answer;
using Ranges = std::vector<std::string>;

/// Real transfers from a server that misbehaves.
class TestDownload : public QObject
{
    Q_OBJECT

private:
    Download request(const std::string &path = "/set.bin") const
    {
        Download request;
        request.url = m_server->url(path);
        request.file = file().toStdString();
        request.sha256 = sha256(m_bytes);
        request.size = m_bytes.size();
        request.attempts = 3;
        request.pause = std::chrono::milliseconds(1);
        request.silence = std::chrono::seconds(1);
        return request;
    }
    QString file() const { return m_dir->filePath("set.bin"); }
    QString part() const { return m_dir->filePath("set.bin.part"); }
    Status load() { return download(request(), m_hooks); }

    std::unique_ptr<HttpServer> m_server;
    std::unique_ptr<QTemporaryDir> m_dir;
    std::string m_bytes;
    std::vector<std::string> m_notes;
    std::atomic<bool> m_cancelled = false;
    Hooks m_hooks;

private Q_SLOTS:
    void init()
    {
        m_server = std::make_unique<HttpServer>();
        m_dir = std::make_unique<QTemporaryDir>();
        m_bytes = noise(100'000);
        m_server->serve("/set.bin", m_bytes);
        m_notes.clear();
        m_cancelled = false;
        m_hooks = {};
        m_hooks.note = [this](const std::string &line) { m_notes.push_back(line); };
        m_hooks.cancelled = &m_cancelled;
    }

    void whole()
    {
        std::uint64_t furthest = 0;
        m_hooks.progress = [&](const std::string &, std::uint64_t done, std::uint64_t) {
            furthest = std::max(furthest, done);
        };
        const Status status = load();
        QVERIFY2(status.ok(), status ? "" : status.error().message().c_str());
        QVERIFY(read(file()) == m_bytes);
        QVERIFY(!QFile::exists(part()));
        QCOMPARE(furthest, std::uint64_t(m_bytes.size()));
        QVERIFY(load().ok()); // there already: nobody is asked
        QCOMPARE(m_server->ranges().size(), std::size_t(1));
    }

    void goesOnWhereTheConnectionBroke()
    {
        m_server->answer({{.cutAfter = 30'000}, {.cutAfter = 20'000}});
        QVERIFY(load().ok());
        QVERIFY(read(file()) == m_bytes);
        QVERIFY(m_server->ranges() == (Ranges{"", "bytes=30000-", "bytes=50000-"}));
        QCOMPARE(m_notes.size(), std::size_t(2));
    }

    void bodiesWithoutLengthThatEndEarly()
    {
        m_server->answer({{.cutAfter = 30'000, .length = false}});
        QVERIFY(load().ok());
        QVERIFY(read(file()) == m_bytes);
    }

    void beginsAnewWhereRangesAreRefused()
    {
        m_server->answer({{.cutAfter = 60'000}}, {.ranges = false});
        QVERIFY(load().ok());
        QVERIFY(read(file()) == m_bytes);
        QCOMPARE(m_server->ranges().size(), std::size_t(2));
    }

    void goesOnFromAnEarlierProcess()
    {
        write(part(), m_bytes.substr(0, 70'000));
        QVERIFY(load().ok());
        QVERIFY(m_server->ranges() == (Ranges{"bytes=70000-"}));
        QVERIFY(read(file()) == m_bytes);
    }

    void partThatIsWholeIsNotAskedFor()
    {
        write(part(), m_bytes);
        QVERIFY(load().ok());
        QVERIFY(m_server->ranges().empty());
    }

    void partThatIsTooLongBeginsAnew()
    {
        write(part(), m_bytes + "more");
        QVERIFY(load().ok());
        QVERIFY(read(file()) == m_bytes);
        auto open = request(); // the size is not known: the server says that nothing follows
        open.size = 0;
        open.file = m_dir->filePath("other").toStdString();
        write(m_dir->filePath("other.part"), m_bytes + "more");
        QVERIFY(download(open, m_hooks).ok());
        QVERIFY(read(m_dir->filePath("other")) == m_bytes);
    }

    void piecesThatDoNotFitAreLoadedAnewOnce()
    {
        write(part(), noise(40'000, 7));
        QVERIFY(load().ok());
        QVERIFY(read(file()) == m_bytes);
        QVERIFY(m_server->ranges() == (Ranges{"bytes=40000-", ""}));
    }

    void wrongBytesAreNeverKept()
    {
        m_server->answer({}, {.body = noise(100'000, 3)});
        const Status status = load();
        QVERIFY(!status.ok());
        QVERIFY2(status.error().message().find(sha256(m_bytes)) != std::string::npos, status.error().message().c_str());
        QVERIFY(!QFile::exists(file()) && !QFile::exists(part()));
        QCOMPARE(m_server->ranges().size(), std::size_t(1));
        m_server->answer({});
        QVERIFY(load().ok());
    }

    void anErrorPageIsToldByItsSize()
    {
        write(part(), m_bytes.substr(0, 10));
        m_server->answer({}, {.ranges = false, .body = "<html>We moved</html>"});
        const Status status = load();
        QVERIFY(!status.ok());
        QVERIFY2(status.error().what.find("21 B") != std::string::npos, status.error().what.c_str());
        QVERIFY(read(part()) == m_bytes.substr(0, 10)); // what was there is still good
        m_server->answer({}, {.ranges = false, .length = false, .body = noise(120'000)});
        QVERIFY(load().error().what.find("sends more") != std::string::npos);
        QVERIFY(!QFile::exists(file()));
    }

    void aFileThatChangedIsRefused()
    {
        write(file(), "something else");
        QVERIFY(load().ok());
        QVERIFY(read(file()) == m_bytes);
    }

    void noSuchFile()
    {
        const Status status = download(request("/nowhere"), m_hooks);
        QVERIFY2(status.error().what.find("404") != std::string::npos, status.error().what.c_str());
        QCOMPARE(m_server->ranges().size(), std::size_t(1)); // asked once
    }

    void serverErrorsPass()
    {
        m_server->answer({{.status = 500}, {.status = 503}});
        QVERIFY(load().ok());
        QCOMPARE(m_server->ranges().size(), std::size_t(3));
        QFile::remove(file());
        m_server->answer({}, {.status = 500});
        const Status status = load();
        QVERIFY2(status.error().what.find("500") != std::string::npos, status.error().what.c_str());
        QCOMPARE(m_server->ranges().size(), std::size_t(6)); // three attempts more
    }

    void aSilentServerIsLeft()
    {
        m_server->answer({{.stallAfter = 50'000}});
        QVERIFY(load().ok());
        QVERIFY(read(file()) == m_bytes);
        QVERIFY(m_notes.at(0).find("silent") != std::string::npos);
    }

    void aSlowServerIsNot()
    {
        m_server->answer({}, {.msPerChunk = 30});
        QVERIFY(load().ok());
        QCOMPARE(m_server->ranges().size(), std::size_t(1));
    }

    void noServer()
    {
        auto wanted = request();
        m_server.reset();
        const Status status = download(wanted, m_hooks);
        QVERIFY2(status.error().what.find("not reached") != std::string::npos, status.error().what.c_str());
    }

    void redirects()
    {
        m_server->answer({{.redirect = m_server->url("/set.bin")}});
        QVERIFY(load().ok());
        QFile::remove(file());
        m_server->answer({}, {.redirect = "file:///etc/hostname"});
        QVERIFY(!load().ok());
        m_server->answer({}, {.redirect = m_server->url("/set.bin")}); // a circle
        QVERIFY(!load().ok());
        QVERIFY(!QFile::exists(file()));
    }

    void otherProtocolsAreRefused()
    {
        auto wanted = request();
        wanted.url = "gopher://127.0.0.1/x";
        QVERIFY(!download(wanted, m_hooks).ok());
    }

    void files()
    {
        const QString source = m_dir->filePath("share/a b%.bin");
        write(source, m_bytes);
        auto wanted = request();
        wanted.url = "file://" + m_dir->path().toStdString() + "/share/a%20b%25.bin";
        write(part(), m_bytes.substr(0, 30'000));
        const Status status = download(wanted, m_hooks);
        QVERIFY2(status.ok(), status ? "" : status.error().message().c_str());
        QVERIFY(read(file()) == m_bytes);
        QFile::remove(file());
        QVERIFY(download(wanted, m_hooks).ok()); // from the first byte as well
        QFile::remove(file());
        write(source, m_bytes.substr(0, 20'000)); // cut by an earlier copy
        const Status cut = download(wanted, m_hooks);
        QVERIFY2(!cut.ok() && cut.error().what.find("20 kB") != std::string::npos, cut ? "" : cut.error().what.c_str());
        wanted.url = "file:///nowhere/at/all";
        QVERIFY(!download(wanted, m_hooks).ok());
    }

    void cancelledWorkIsKept()
    {
        m_server->answer({{.stallAfter = 50'000}});
        m_hooks.progress = [this](const std::string &, std::uint64_t done, std::uint64_t) { m_cancelled = done >= 40'000; };
        QVERIFY(!load().ok());
        QVERIFY(!QFile::exists(file()));
        const auto kept = read(part());
        QVERIFY(kept.size() >= 40'000 && m_bytes.starts_with(kept));
        m_hooks.progress = {};
        m_cancelled = false;
        QVERIFY(load().ok());
        QVERIFY(m_server->ranges().back() == "bytes=" + std::to_string(kept.size()) + "-");
        QVERIFY(read(file()) == m_bytes);
    }
};

QTEST_GUILESS_MAIN(TestDownload)
#include "tst_download.moc"
