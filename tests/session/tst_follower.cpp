// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/plot.h"
#include "core/session/runfollower.h"
#include "tests/support/sandbox.h"

#include <QSignalSpy>
#include <QTest>
#include <QXmlStreamReader>

#include <cmath>
#include <fstream>

using namespace parallax;
using session::RunFollower;

namespace {

void append(const std::filesystem::path &file, const std::string &text)
{
    std::ofstream(file, std::ios::app | std::ios::binary) << text;
}

std::size_t points(const session::RunData &data, const char *name)
{
    const auto found = data.series.find(name);
    return found == data.series.end() ? 0 : found->second.size();
}

} // namespace

class TestFollower : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_box = std::make_unique<testing::Sandbox>(); }
    void cleanup() { m_box.reset(); }

    void followsWhatIsAppended()
    {
        const runs::RunFolder folder = m_box->makeRun(2);
        RunFollower follower(session::toQString(folder.path()));
        QVERIFY(follower.data()); // never null
        QSignalSpy updated(&follower, &RunFollower::updated);
        QTRY_VERIFY(updated.count() >= 1);
        QCOMPARE(follower.data()->record.world, 2);
        auto first = runs::EventWriter::open(folder.events(0)), second = runs::EventWriter::open(folder.events(1));
        QVERIFY(first->write("metrics", {{"step", 1}, {"epoch", 0.1}, {"loss", 3.5}, {"step_ms", 9}}).ok());
        QVERIFY(first->write("memory", {{"step", 1}, {"epoch", 0.1}, {"rss_mb", 100}}).ok());
        QVERIFY(second->write("metrics", {{"step", 1}, {"epoch", 0.1}, {"step_ms", 11}, {"data_wait", 0.1}}).ok());
        QVERIFY(second->write("memory", {{"step", 1}, {"epoch", 0.1}, {"rss_mb", 110}}).ok());
        QTRY_COMPARE(points(*follower.data(), "rss_mb/r1"), std::size_t(1));
        const auto kept = follower.data();
        QCOMPARE(kept->series.at("loss").value[0], 3.5);
        QCOMPARE(kept->series.at("step_ms/r0").value[0], 9.0);
        QCOMPARE(kept->series.at("step_ms/r1").value[0], 11.0);
        QCOMPARE(kept->series.at("rss_mb/r0").value[0], 100.0);
        QVERIFY(!kept->series.contains("data_wait")); // rank 1's is not the run's
        QVERIFY(first->write("metrics", {{"step", 2}, {"epoch", 0.2}, {"loss", "NaN"}}).ok());
        QTRY_COMPARE(points(*follower.data(), "loss"), std::size_t(2));
        QCOMPARE(points(*kept, "loss"), std::size_t(1)); // a snapshot never changes
        QVERIFY(std::isnan(follower.data()->series.at("loss").value[1]));
    }

    void tellsFactsAndMarks()
    {
        const runs::RunFolder folder = m_box->makeRun(2);
        auto first = runs::EventWriter::open(folder.events(0)), second = runs::EventWriter::open(folder.events(1));
        QVERIFY(first->write("plan", {{"step", 0}, {"epoch", 0.0}, {"steps", 100}, {"chance_loss", 4.8}}).ok());
        QVERIFY(first->write("state", {{"step", 0}, {"epoch", 0.0}, {"state", "training"}}).ok());
        QVERIFY(first->write("checkpoint", {{"step", 5}, {"epoch", 0.5}, {"file", "step-5.safetensors"}}).ok());
        QVERIFY(first->write("log", {{"step", 5}, {"epoch", 0.5}, {"level", "warning"}, {"text", "\x1b[2Jcollapse"}}).ok());
        QVERIFY(
            second->write("error", {{"step", 6}, {"epoch", 0.6}, {"what", "It broke"}, {"where", "rank 1"}, {"hint", ""}})
                .ok());
        const session::RunData data = session::readRun(folder);
        QCOMPARE(data.plan["steps"].get<int>(), 100);
        QCOMPARE(data.activity, QStringLiteral("training"));
        QCOMPARE(data.marks.size(), std::size_t(3));
        QCOMPARE(data.marks[0].kind, QStringLiteral("checkpoint"));
        QCOMPARE(data.marks[2].kind, QStringLiteral("failure"));
        QCOMPARE(data.log.size(), std::size_t(2));
        QVERIFY(!data.log[0].text.contains(QChar(0x1b)));
        QCOMPARE(data.log[1].rank, 1);
        QCOMPARE(data.step, 5);
    }

    /// Power loss and foreign lines: every whole line is shown, what was skipped is counted.
    void survivesTornAndDirtyLines_data()
    {
        QTest::addColumn<int>("least");
        QTest::addColumn<int>("most");
        QTest::newRow("torn_tail") << 19 << 19;
        QTest::newRow("nul_tail") << 20 << 20;
        QTest::newRow("nul_middle") << 20 << 20;
        QTest::newRow("two_in_one_line") << 18 << 20;
        QTest::newRow("crlf_and_blank") << 20 << 20;
        QTest::newRow("bad_utf8") << 19 << 20;
        QTest::newRow("escape_codes") << 19 << 19;
        QTest::newRow("empty") << 0 << 0;
    }
    void survivesTornAndDirtyLines()
    {
        QFETCH(int, least);
        QFETCH(int, most);
        const QString input = QStringLiteral(PARALLAX_SOURCE_DIR "/tests/data/events/%1.jsonl");
        const runs::RunFolder folder = m_box->makeRun();
        QVERIFY(QFile::copy(input.arg(QString::fromLatin1(QTest::currentDataTag())), session::toQString(folder.events(0))));
        QVERIFY(QFile::setPermissions(session::toQString(folder.events(0)), QFile::ReadOwner | QFile::WriteOwner));
        RunFollower follower(session::toQString(folder.path()));
        QSignalSpy updated(&follower, &RunFollower::updated);
        QTRY_VERIFY(updated.count() >= 1);
        QTRY_VERIFY(int(points(*follower.data(), "loss")) >= least);
        QVERIFY(int(points(*follower.data(), "loss")) <= most);
        const auto before = points(*follower.data(), "loss");
        // A new launch of the rank ends a torn line first; then whole lines are seen live.
        auto events = runs::EventWriter::open(folder.events(0));
        QVERIFY(events->write("metrics", {{"step", 20}, {"epoch", 2.0}, {"loss", 5.0}}).ok());
        QTRY_COMPARE(points(*follower.data(), "loss"), before + 1);
    }

    void waitsForTheEndOfALine()
    {
        const runs::RunFolder folder = m_box->makeRun();
        append(folder.events(0), "{\"step\": 1, \"loss\": 2.0}\n{\"step\": 2, \"lo");
        RunFollower follower(session::toQString(folder.path()));
        QTRY_COMPARE(points(*follower.data(), "loss"), std::size_t(1));
        append(folder.events(0), "ss\": 1.5}\n");
        QTRY_COMPARE(points(*follower.data(), "loss"), std::size_t(2));
        QCOMPARE(follower.data()->skippedLines, 0);
    }

    void noticesDeletionAndReturn()
    {
        const runs::RunFolder folder = m_box->makeFinishedRun();
        RunFollower follower(session::toQString(folder.path()));
        QSignalSpy vanished(&follower, &RunFollower::vanished);
        QTRY_COMPARE(points(*follower.data(), "loss"), std::size_t(10));
        const auto aside = session::toPath(m_box->path("aside"));
        std::filesystem::rename(folder.path(), aside);
        QTRY_COMPARE(vanished.count(), 1);
        QCOMPARE(points(*follower.data(), "loss"), std::size_t(10)); // what was read stays shown
        std::filesystem::rename(aside, folder.path());
        append(folder.events(0), "{\"step\": 11, \"loss\": 1.0}\n");
        QTRY_COMPARE(points(*follower.data(), "loss"), std::size_t(11));
    }

    void startsAgainWithAReplacedFile()
    {
        const runs::RunFolder folder = m_box->makeFinishedRun();
        RunFollower follower(session::toQString(folder.path()));
        QTRY_COMPARE(points(*follower.data(), "loss"), std::size_t(10));
        QVERIFY(writeFileAtomic(folder.events(0), "{\"step\": 1, \"loss\": 9.0}\n").ok());
        QTRY_COMPARE(points(*follower.data(), "loss"), std::size_t(1));
        QCOMPARE(follower.data()->series.at("loss").value[0], 9.0);
    }

    void readsALongRun()
    {
        const runs::RunFolder folder = m_box->makeRun();
        std::string text;
        for (int step = 1; step <= 100'000; ++step)
            text += "{\"event\":\"metrics\",\"step\":" + std::to_string(step) + ",\"loss\":1.5,\"lr\":0.1}\n";
        append(folder.events(0), text);
        RunFollower follower(session::toQString(folder.path()));
        QTRY_COMPARE_WITH_TIMEOUT(points(*follower.data(), "lr"), std::size_t(100'000), 30'000);
    }

    void drawsPlots()
    {
        const runs::RunFolder folder = m_box->makeFinishedRun(40);
        auto data = session::readRun(folder);
        const std::string svg = session::plotSvg(data, "a <b> & \x1b[2J");
        QXmlStreamReader xml(QByteArray::fromStdString(svg));
        int paths = 0;
        while (!xml.atEnd())
            if (xml.readNext() == QXmlStreamReader::StartElement && xml.name() == QStringLiteral("path")) ++paths;
        QVERIFY2(!xml.hasError(), xml.errorString().toUtf8().constData());
        QVERIFY(paths >= 2);
        QVERIFY(svg.find("nan") == std::string::npos);
        data.series["loss"].value.assign(40, std::nan(""));
        QVERIFY(session::plotSvg(data, "no finite loss").find("nan") == std::string::npos);
        QXmlStreamReader empty(QByteArray::fromStdString(session::plotSvg({}, "empty")));
        while (!empty.atEnd()) empty.readNext();
        QVERIFY(!empty.hasError());
        QVERIFY(session::writePlots(folder).ok());
        QVERIFY(std::filesystem::exists(folder.plots()));
    }

private:
    std::unique_ptr<testing::Sandbox> m_box;
};

QTEST_GUILESS_MAIN(TestFollower)
#include "tst_follower.moc"
