// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/events.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <sys/resource.h>

using namespace parallax;
using runs::Event;
using runs::EventReader;
using runs::EventWriter;
using runs::Json;

class Events : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    int m_files = 0;

    QString fresh() { return m_dir.filePath(QString::number(++m_files) + ".jsonl"); }
    static void append(const QString &path, const QByteArray &bytes)
    {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Append));
        QCOMPARE(file.write(bytes), qint64(bytes.size()));
    }
    static QByteArray content(const QString &path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    static int losses(const std::vector<Event> &events)
    {
        return int(std::ranges::count_if(events, [](const Event &event) { return event.fields.contains("loss"); }));
    }
    /// `lines` of a log with step and loss, and one line of another kind in place of the eleventh.
    static QByteArray logWith(const QByteArray &odd)
    {
        QByteArray log;
        for (int i = 0; i < 20; ++i)
            log += i == 10 ? odd + '\n' : QString("{\"step\": %1, \"loss\": %2}\n").arg(i).arg(7 - i * 0.1).toUtf8();
        return log;
    }

private Q_SLOTS:
    void whatIsWrittenIsRead()
    {
        const QString path = fresh();
        auto writer = EventWriter::open(path.toStdString());
        QVERIFY(writer);
        QVERIFY(writer->write("metrics",
                              {{"step", 3}, {"epoch", 0.5}, {"loss", 6.25}, {"worst", NAN}, {"list", {1, -INFINITY}}}));
        QVERIFY(writer->write("log", {{"level", "info"}, {"text", "bad \xFF byte"}}));

        EventReader reader(path.toStdString());
        const auto events = reader.poll();
        QCOMPARE(events.size(), std::size_t(2));
        QCOMPARE(events[0].event, std::string("metrics"));
        QCOMPARE(events[0].step, std::int64_t(3));
        QCOMPARE(events[0].epoch, 0.5);
        QVERIFY(events[0].t > 1.7e9);
        QCOMPARE(events[0].fields["worst"].get<std::string>(), std::string("NaN"));
        QCOMPARE(events[0].fields["list"][1].get<std::string>(), std::string("-Infinity"));
        QCOMPARE(events[0].fields.begin().key(), std::string("t"));
        QCOMPARE(events[1].fields["text"].get<std::string>(), std::string("bad \xEF\xBF\xBD byte"));
        QVERIFY(reader.poll().empty());
        QCOMPARE(reader.skipped(), std::int64_t(0));
    }

    void tornAndDirtyLogs_data()
    {
        QTest::addColumn<QByteArray>("log");
        QTest::addColumn<int>("points");
        QTest::addColumn<int>("skipped");
        const auto file = [](const char *name) {
            return content(QString(PARALLAX_SOURCE_DIR "/tests/data/events/") + name);
        };
        QTest::newRow("torn tail") << file("torn_tail.jsonl") << 19 << 0;
        QTest::newRow("NUL tail") << file("nul_tail.jsonl") << 20 << 0;
        QTest::newRow("NUL block") << file("nul_middle.jsonl") << 20 << 1;
        QTest::newRow("two in one line") << file("two_in_one_line.jsonl") << 18 << 1;
        QTest::newRow("CRLF and blank lines") << file("crlf_and_blank.jsonl") << 20 << 0;
        QTest::newRow("invalid UTF-8") << file("bad_utf8.jsonl") << 19 << 1;
        QTest::newRow("escape codes") << file("escape_codes.jsonl") << 19 << 0;
        QTest::newRow("empty") << file("empty.jsonl") << 0 << 0;
        QTest::newRow("long line") << logWith("{\"step\": 10, \"note\": \"" + QByteArray(300'000, 'x') + "\"}") << 19 << 0;
        QTest::newRow("endless line") << logWith(QByteArray(3'000'000, 'x')) << 19 << 1;
        QTest::newRow("deep line") << logWith(QByteArray(50'000, '[')) << 19 << 1;
        QTest::newRow("other JSON") << logWith("[1]\n3\nnull\n\"x\"") << 19 << 4;
        QTest::newRow("NULs before a line") << logWith(QByteArray(7, '\0') + "{\"loss\": 1}") << 20 << 1;
    }
    void tornAndDirtyLogs()
    {
        QFETCH(QByteArray, log);
        QFETCH(int, points);
        QFETCH(int, skipped);
        const QString path = fresh();
        append(path, log);
        EventReader reader(path.toStdString());
        int found = 0;
        for (auto events = reader.poll(1000); !events.empty(); events = reader.poll(1000)) found += losses(events);
        QCOMPARE(found, points);
        QCOMPARE(reader.skipped(), std::int64_t(skipped));

        // A run that is resumed goes on in the same file, on a line of its own.
        auto writer = EventWriter::open(path.toStdString());
        QVERIFY(writer && writer->write("metrics", {{"step", 99}, {"loss", 1}}));
        const auto events = reader.poll();
        QCOMPARE(losses(events), 1);
        QCOMPARE(events.back().step, std::int64_t(99));
        QVERIFY(reader.skipped() <= skipped + 1);
    }

    void aLineArrivesWhenItIsWhole()
    {
        const QString path = fresh();
        EventReader reader(path.toStdString());
        QVERIFY(reader.poll().empty()); // not even there yet
        append(path, "{\"step\": 1, \"lo");
        QVERIFY(reader.poll().empty());
        append(path, "ss\": 2}");
        QVERIFY(reader.poll().empty());
        append(path, "\n{\"step\": 2}\n");
        const auto events = reader.poll();
        QCOMPARE(events.size(), std::size_t(2));
        QCOMPARE(events[0].fields["loss"].get<int>(), 2);
        QCOMPARE(events[0].event, std::string("metrics"));
    }

    void aReplacedFileIsReadAnew()
    {
        const QString path = fresh();
        append(path, "{\"step\": 1}\n{\"step\": 2}\n");
        EventReader reader(path.toStdString());
        QCOMPARE(reader.poll().size(), std::size_t(2));
        QVERIFY(!reader.restarted());
        std::filesystem::resize_file(path.toStdString(), 12);
        QCOMPARE(reader.poll().size(), std::size_t(1));
        QVERIFY(reader.restarted());
        QVERIFY(reader.poll().empty());
        QVERIFY(!reader.restarted());

        const QString other = fresh();
        append(other, "{\"step\": 7}\n{\"step\": 8}\n{\"step\": 9}\n");
        std::filesystem::rename(other.toStdString(), path.toStdString());
        QCOMPARE(reader.poll().size(), std::size_t(3));
        QVERIFY(reader.restarted());
    }

    void absurdStepsDoNoHarm()
    {
        const QString path = fresh();
        append(path,
               "{\"step\": 1e300, \"epoch\": \"x\", \"t\": null}\n{\"step\": -5}\n{\"step\": \"3\"}\n{\"step\": "
               "18446744073709551615}\n");
        const auto events = EventReader(path.toStdString()).poll();
        QCOMPARE(events.size(), std::size_t(4));
        QVERIFY(events[0].step > 0);
        QCOMPARE(events[1].step, std::int64_t(0));
        QCOMPARE(events[2].step, std::int64_t(0));
        QVERIFY(events[3].step > 0);
    }

    void aFullDiskLeavesWholeLines()
    {
        const QString path = fresh();
        auto writer = EventWriter::open(path.toStdString());
        QVERIFY(writer && writer->write("log", {{"text", "first"}}));
        const QByteArray before = content(path);

        const auto previous = std::signal(SIGXFSZ, SIG_IGN);
        rlimit old{};
        QCOMPARE(::getrlimit(RLIMIT_FSIZE, &old), 0);
        const rlimit small{rlim_t(before.size() + 10), old.rlim_max}; // ten bytes of the next line fit
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
        const Status status = writer->write("log", {{"text", "second"}});
        ::setrlimit(RLIMIT_FSIZE, &old);
        std::signal(SIGXFSZ, previous);

        QVERIFY(!status);
        QVERIFY2(status.error().message().find("disk full") != std::string::npos, status.error().message().c_str());
        QCOMPARE(content(path), before);
        QVERIFY(writer->write("log", {{"text", "third"}}));
        QCOMPARE(EventReader(path.toStdString()).poll().size(), std::size_t(2));
    }

    void whatNoReaderTakesIsNotWritten()
    {
        const QString path = fresh();
        auto writer = EventWriter::open(path.toStdString());
        QVERIFY(writer && !writer->write("log", {{"text", std::string(2'000'000, 'x')}}));
        QCOMPARE(content(path), QByteArray());
        QVERIFY(!EventWriter::open("/dev/full"));
        QVERIFY(!EventWriter::open(m_dir.path().toStdString()));
    }

    void figures()
    {
        QCOMPARE(runs::figure(3).value_or(0), 3.0);
        QCOMPARE(runs::figure(true).value_or(0), 1.0);
        QVERIFY(std::isnan(runs::figure("NaN").value_or(0)));
        QVERIFY(std::isnan(runs::figure(nullptr).value_or(0)));
        QCOMPARE(runs::figure("-Infinity").value_or(0), -INFINITY);
        QVERIFY(!runs::figure("3"));
        QVERIFY(!runs::figure(Json::array({1})));
    }
};

QTEST_GUILESS_MAIN(Events)
#include "tst_events.moc"
