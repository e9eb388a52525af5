// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/store.h"
#include "core/runs/events.h"
#include "core/runs/runrecord.h"
#include "core/runs/safetensors.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <numeric>
#include <optional>

using namespace parallax;

namespace {

struct Events {
    std::vector<runs::Event> all;
    std::int64_t skipped = 0;

    std::vector<double> figures(const std::string &event, const std::string &name) const
    {
        std::vector<double> values;
        for (const auto &line : all)
            if (line.event == event && line.fields.contains(name)) values.push_back(*runs::figure(line.fields[name]));
        return values;
    }
};

Events read(const std::filesystem::path &file)
{
    runs::EventReader reader(file);
    Events events;
    for (auto lines = reader.poll(); !lines.empty(); lines = reader.poll())
        events.all.insert(events.all.end(), lines.begin(), lines.end());
    events.skipped = reader.skipped();
    return events;
}

double mean(std::vector<double>::const_iterator begin, std::vector<double>::const_iterator end)
{
    return std::accumulate(begin, end, 0.0) / double(end - begin);
}

} // namespace

/// The demo, shortened, through the command line: two real ranks on real images.
class TestDemo : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_dir.isValid());
        QProcess parallax;
        parallax.setProcessChannelMode(QProcess::MergedChannels);
        parallax.start(QStringLiteral(PARALLAX_BIN_DIR "/parallax"),
                       {"train", "--preset", "demo", "--runs", m_dir.path(), "--set", "train.epochs=3", "--set",
                        "output.embed_limit=200"});
        QVERIFY2(parallax.waitForFinished(280'000), "the demo did not end");
        m_output = QString::fromUtf8(parallax.readAll());
        QVERIFY2(parallax.exitStatus() == QProcess::NormalExit && parallax.exitCode() == 0, qPrintable(m_output));
        const auto found = runs::listRuns(m_dir.path().toStdString());
        QCOMPARE(found.size(), std::size_t(1));
        m_run.emplace(found.front());
        for (int rank = 0; rank < 2; ++rank) m_events.push_back(read(m_run->events(rank)));
    }

    void theRecordSaysThatItFinishedOnTwoRanks()
    {
        const auto record = runs::RunRecord::load(*m_run);
        QVERIFY(record.ok());
        QVERIFY(record->state == runs::State::Finished);
        QCOMPARE(record->world, 2);
        QCOMPARE(record->devices, (std::vector<std::string>{"cpu", "cpu"}));
    }

    void everyEventIsWhole()
    {
        const std::vector<double> losses = m_events[0].figures("metrics", "loss");
        const std::int64_t steps = std::int64_t(losses.size());
        QVERIFY(steps > 10);
        for (const auto &events : m_events) {
            QCOMPARE(events.skipped, std::int64_t(0));
            std::int64_t step = 0;
            for (const auto &line : events.all)
                if (line.event == "metrics") QCOMPARE(line.step, ++step);
            QCOMPARE(step, steps);
            QVERIFY(!events.figures("memory", "rss_mb").empty());
            QCOMPARE(events.all.back().fields.value("state", std::string()), std::string("finished"));
        }
        QCOMPARE(m_events[0].figures("plan", "steps"), std::vector<double>{double(steps)});
        for (const char *name : {"lr", "images_per_s", "data_wait", "step_ms"})
            QCOMPARE(m_events[0].figures("metrics", name).size(), std::size_t(steps));
    }

    void theLossFalls()
    {
        const std::vector<double> losses = m_events[0].figures("metrics", "loss");
        QVERIFY2(mean(losses.end() - 4, losses.end()) < mean(losses.begin(), losses.begin() + 4) - 0.2,
                 qPrintable(m_output));
    }

    void accuracyRisesAboveTheUntrainedNetwork()
    {
        const std::vector<double> accuracy = m_events[0].figures("eval", "knn_top1");
        QCOMPARE(accuracy.size(), std::size_t(4)); // untrained, and after each epoch
        QVERIFY2(accuracy.back() > accuracy.front(), qPrintable(m_output));
        QCOMPARE(m_events[0].figures("eval", "k").back(), 200.0);
        QCOMPARE(m_events[0].figures("eval", "temperature").back(), 0.1);
    }

    void bothRanksHoldTheSameParameters()
    {
        const std::string first = m_events[0].all.back().fields.value("params_digest", std::string());
        QVERIFY(!first.empty());
        QCOMPARE(m_events[1].all.back().fields.value("params_digest", std::string()), first);
    }

    void checkpointAndEmbeddingsAreThere()
    {
        const auto checkpoints = m_run->listCheckpoints();
        QVERIFY(!checkpoints.empty());
        QVERIFY(runs::SafetensorsFile::open(checkpoints.back().tensors).ok());
        const auto store = embedding::Store::open(m_run->embeddings(3));
        QVERIFY(store.ok());
        QCOMPARE(store->meta().count, std::int64_t(200));
        QCOMPARE(store->meta().classes.size(), std::size_t(10));
    }

private:
    QTemporaryDir m_dir;
    QString m_output;
    std::optional<runs::RunFolder> m_run;
    std::vector<Events> m_events;
};

QTEST_GUILESS_MAIN(TestDemo)
#include "tst_demo.moc"
