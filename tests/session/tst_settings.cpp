// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/control.h"
#include "core/session/job.h"
#include "core/session/launch.h"
#include "core/session/settings.h"
#include "tests/support/sandbox.h"

#include <QSignalSpy>
#include <QTest>

using namespace parallax;
using session::Job;

/// Schema, presets, one-shot jobs and what a launch is made from.
class TestSettings : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_box = std::make_unique<testing::Sandbox>(); }
    void cleanup()
    {
        QTRY_VERIFY(m_box->processes().empty());
        m_box.reset();
    }

    void keepsTheSchema()
    {
        QVERIFY(!session::cachedSchema());
        const auto asked = session::loadSchema();
        QVERIFY(asked.ok());
        m_box->script("job_error=schema"); // the worker would not answer again
        const auto kept = session::loadSchema();
        QVERIFY(kept.ok());
        QCOMPARE(kept->toJson().dump(), asked->toJson().dump());
    }

    void asksAgainForAnotherWorker()
    {
        QVERIFY(session::loadSchema().ok());
        const QString copy = m_box->path("worker");
        QVERIFY(QFile::copy(qEnvironmentVariable("PARALLAX_WORKER"), copy));
        m_box->set("PARALLAX_WORKER", copy);
        QVERIFY(!session::cachedSchema());
        QVERIFY(session::loadSchema().ok());
        QVERIFY(session::cachedSchema());
    }

    void distrustsTheCache()
    {
        QVERIFY(session::loadSchema().ok());
        const QDir cache(m_box->path("cache/parallax"));
        const QStringList files = cache.entryList({"schema-*.json"});
        QCOMPARE(files.size(), 1);
        QVERIFY(writeFileAtomic(session::toPath(cache.filePath(files[0])), "{\"fields\": 3").ok());
        QVERIFY(session::loadSchema().ok());
    }

    void noPresetIsDropped()
    {
        const QDir folder(QStringLiteral(PARALLAX_SOURCE_DIR "/resources/presets"));
        const auto presets = session::presets();
        QCOMPARE(qsizetype(presets.size()), folder.entryList({"*.json"}).size()); // none was dropped as damaged
        QCOMPARE(presets.front().name, QStringLiteral("demo"));
        for (const session::Preset &preset : presets) QVERIFY(!preset.label.isEmpty());
        session::LaunchRequest request; // the others need the worker's own schema: engine.train.units reads them
        request.layers.push_back({"preset", presets.front().values});
        const auto config = session::resolveConfig(request);
        QVERIFY2(config.ok(), config.ok() ? "" : config.error().message().c_str());
        QVERIFY(session::loadSchema().ok());
        QCOMPARE(session::findPreset("demo")->label, QStringLiteral("Demo: SimCLR on Fashion-MNIST"));
        const auto unknown = session::findPreset("dem");
        QVERIFY(!unknown.ok());
        QVERIFY(unknown.error().hint.find("demo") != std::string::npos);
    }

    void storesExistingPathsWhole()
    {
        QDir(m_box->path()).mkdir("images");
        const QString before = QDir::currentPath();
        QDir::setCurrent(m_box->path());
        session::LaunchRequest request;
        request.assignments = {"data.source=images", "data.val_source=fashion-mnist"};
        const auto config = session::resolveConfig(request);
        QDir::setCurrent(before);
        QVERIFY(config.ok());
        const auto source = (*config)["data"]["source"].get<std::string>();
        QVERIFY(source.starts_with('/') && source.ends_with("/images"));
        QCOMPARE((*config)["data"]["val_source"].get<std::string>(), std::string("fashion-mnist"));
    }

    void aJobAnswersOrSaysWhy_data()
    {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<QString>("worker");
        QTest::addColumn<QString>("what");
        QTest::newRow("answers") << QByteArray() << QString() << QString();
        QTest::newRow("error") << QByteArray("job_error=devices") << QString() << "The script said so";
        QTest::newRow("no JSON") << QByteArray("job_garbage=devices") << QString() << "no JSON";
        QTest::newRow("missing") << QByteArray() << "/nowhere/worker"
                                 << "cannot be started";
        QTest::newRow("no program") << QByteArray() << "/etc/passwd"
                                    << "cannot be started";
        QTest::newRow("silent") << QByteArray() << "/bin/true"
                                << "no JSON";
    }
    void aJobAnswersOrSaysWhy()
    {
        QFETCH(QByteArray, script);
        QFETCH(QString, worker);
        QFETCH(QString, what);
        m_box->script(script.constData());
        if (!worker.isEmpty()) m_box->set("PARALLAX_WORKER", worker);
        Job job(Job::Program::Worker, {"devices"});
        std::optional<Result<session::Json>> answer;
        connect(&job, &Job::succeeded, this, [&](const session::Json &json) { answer = json; });
        connect(&job, &Job::failed, this, [&](const Error &error) { answer = error; });
        QTRY_VERIFY(answer.has_value());
        const auto waited = session::runJob(Job::Program::Worker, {"devices"});
        for (const auto &result : {*answer, waited}) {
            QCOMPARE(result.ok(), what.isEmpty());
            if (!result.ok())
                QVERIFY2(result.error().what.find(what.toStdString()) != std::string::npos, result.error().what.c_str());
        }
    }

    void aDeletedJobLeavesNoProcess()
    {
        m_box->script("job_ms=60000");
        const QString copy = m_box->path("slowworker"); // inside the sandbox: its processes are told apart by that
        QVERIFY(QFile::copy(qEnvironmentVariable("PARALLAX_WORKER"), copy));
        m_box->set("PARALLAX_WORKER", copy);
        {
            Job job(Job::Program::Worker, {"devices"});
            QTRY_COMPARE(m_box->processes().size(), std::size_t(1));
        }
        QTRY_VERIFY(m_box->processes().empty());
        const auto late = session::runJob(Job::Program::Worker, {"devices"}, 100);
        QVERIFY(!late.ok());
        QVERIFY(late.error().what.find("no answer") != std::string::npos);
    }

    void nobodyAnswersACommand()
    {
        std::optional<Status> answer;
        session::sendCommand(m_box->path("nobody.sock"), "stop", this, [&](Status status) { answer = std::move(status); });
        QTRY_VERIFY(answer.has_value());
        QVERIFY(!answer->ok());
        QVERIFY(!session::sendCommandAndWait(m_box->path("nobody.sock"), "stop", 1'000).ok());
    }

    void aFullDiskLeavesNoFolder()
    {
        session::LaunchRequest request;
        request.runs = "/dev/full/runs";
        request.layers.push_back({"preset", session::findPreset("demo")->values});
        const auto launch = session::checkLaunch(request);
        QVERIFY2(launch.ok(), launch.ok() ? "" : launch.error().message().c_str());
        QCOMPARE(launch->devices.size(), std::size_t(2));
        QVERIFY(!session::makeRun(request, *launch).ok());
    }

private:
    std::unique_ptr<testing::Sandbox> m_box;
};

QTEST_GUILESS_MAIN(TestSettings)
#include "tst_settings.moc"
