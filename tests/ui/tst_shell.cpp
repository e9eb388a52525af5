// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "syntheticruns.h"

#include "core/session/job.h"
#include "core/session/qtconvert.h"
#include "ui/embeddings/embeddingsscreen.h"
#include "ui/experiment/newrunscreen.h"
#include "ui/monitor/chartgrid.h"
#include "ui/monitor/monitorscreen.h"
#include "ui/runs/runsscreen.h"
#include "ui/shell/firstrunpage.h"
#include "ui/shell/mainwindow.h"
#include "ui/shell/railbar.h"
#include "ui/shell/screenshots.h"
#include "ui/shell/statusstrip.h"
#include "ui/shell/toast.h"
#include "ui/widgets/chartcard.h"

#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace parallax;
using namespace parallax::ui;
using test::SyntheticWriter;

namespace {

/// The curve of the run in front; 0: none yet.
std::size_t lossPoints(const MainWindow &window)
{
    const Chart *loss = window.monitorScreen()->charts()->cards().front()->chart();
    return loss->series().empty() ? 0 : loss->series().front().x.size();
}

} // namespace

class TestShell : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("parallax-test-shell"));
        QSettings().clear();
        m_worker = QStringLiteral(PARALLAX_TEST_BIN_DIR "/fakeworker");
        m_cli = QStringLiteral(PARALLAX_BIN_DIR "/parallax");
        qputenv("PARALLAX_WORKER", m_worker.toUtf8());
        qputenv("PARALLAX_CLI", m_cli.toUtf8());
        qputenv("XDG_CACHE_HOME", m_cache.path().toUtf8());
        qputenv("XDG_RUNTIME_DIR", m_runtime.path().toUtf8());
        Theme::instance().setMode(Theme::Mode::Light, false);
    }

    void anEmptyWorkspaceSaysHowToBegin()
    {
        QTemporaryDir folder;
        MainWindow window(folder.path());
        window.show();
        QTRY_VERIFY(window.firstRunPage()->isVisible());
        QTest::mouseClick(window.firstRunPage()->findChild<QPushButton *>("demo"), Qt::LeftButton);
        QCOMPARE(window.place(), MainWindow::NewRun);
        QVERIFY(window.newRunScreen()->isVisible());
        window.go(MainWindow::Runs);
        // The first run that appears takes the page's place by itself.
        SyntheticWriter writer(session::toPath(folder.path()), {});
        QTRY_VERIFY(window.runsScreen()->isVisible());
        QVERIFY(!window.firstRunPage()->isVisible());
    }

    void railKeysAndMenusLeadToTheScreens()
    {
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()), {});
        MainWindow window(folder.path());
        window.show();
        QTRY_COMPARE(window.workspace()->runs().size(), std::size_t(1));
        QVERIFY(QTest::qWaitForWindowActive(&window));
        auto *rail = window.findChild<RailBar *>();
        const QWidget *pages[] = {window.runsScreen(), window.newRunScreen(), window.monitorScreen(),
                                  window.embeddingsScreen()};
        for (const int place : {3, 1, 2, 0}) {
            QTest::keyClick(&window, Qt::Key(Qt::Key_1 + place), Qt::ControlModifier);
            QCOMPARE(int(window.place()), place);
            QVERIFY(pages[place]->isVisible());
            QCOMPARE(rail->current(), place);
        }
        QTest::mouseClick(rail->button(2), Qt::LeftButton);
        QVERIFY(window.monitorScreen()->isVisible());
        QCOMPARE(window.monitorScreen()->run(), session::toQString(writer.folder().path()));
        rail->button(2)->setFocus();
        QTest::keyClick(rail->button(2), Qt::Key_Up);
        QCOMPARE(int(window.place()), 1);
        QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier);
        QVERIFY(window.newRunScreen()->isVisible());
    }

    void anotherFolderReplacesEverything()
    {
        QTemporaryDir first, second;
        SyntheticWriter one(session::toPath(first.path()), {.name = "one"});
        SyntheticWriter two(session::toPath(second.path()), {.folder = "20261130-150000-simclr-cccc", .name = "two"});
        MainWindow window(first.path());
        window.show();
        QTRY_COMPARE(window.workspace()->runs().size(), std::size_t(1));
        window.openMonitor(session::toQString(one.folder().path()));
        window.setRunsFolder(second.path());
        QTRY_COMPARE(window.workspace()->runs().size(), std::size_t(1));
        QCOMPARE(window.workspace()->runs().front().record.name, std::string("two"));
        QTRY_VERIFY(window.runsScreen()->isVisible());
        QVERIFY(window.monitorScreen()->run().isEmpty());
    }

    void theFirstRunPageCanLeadToAnotherFolder()
    {
        QTemporaryDir empty, full;
        SyntheticWriter writer(session::toPath(full.path()), {});
        MainWindow window(empty.path());
        window.show();
        QTRY_VERIFY(window.firstRunPage()->isVisible());
        Q_EMIT window.firstRunPage()->runsFolderChosen(full.path()); // the page that emits is replaced meanwhile
        QTRY_COMPARE(window.workspace()->runs().size(), std::size_t(1));
        QTRY_VERIFY(window.runsScreen()->isVisible());
    }

    void theWindowComesBackAsItWas()
    {
        QTemporaryDir folder;
        QSize size;
        {
            MainWindow window(folder.path());
            window.show();
            window.resize(1220, 740);
            size = window.size();
            window.close();
        }
        MainWindow again(folder.path());
        QCOMPARE(again.size(), size);
        QVERIFY(again.minimumWidth() >= 1100 && again.minimumHeight() >= 700);
    }

    void stopWithoutARunIsSaid()
    {
        QTemporaryDir folder;
        MainWindow window(folder.path());
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QTest::keyClick(&window, Qt::Key_Period, Qt::ControlModifier);
        QVERIFY(window.toast()->isVisible());
        QVERIFY(!window.toast()->text().isEmpty());
    }

    void startWatchStop()
    {
        if (!QFile::exists(m_cli) || !QFile::exists(m_worker)) QSKIP("the command line is not built");
        qputenv("FAKEWORKER", "rate=60");
        QTemporaryDir folder;
        MainWindow window(folder.path());
        window.show();
        const auto started = session::runJob(session::Job::Program::Cli,
                                             {"train", "--detach", "--json", "--runs", folder.path(), "--preset", "demo",
                                              "--set", "train.epochs=200", "--set", "distributed.ranks=2", "--set",
                                              "distributed.device=cpu", "--name", "watched"},
                                             30'000);
        QVERIFY2(started, started ? "" : started.error().message().c_str());
        QTRY_COMPARE_WITH_TIMEOUT(window.workspace()->runs().size(), std::size_t(1), 10'000);
        QTRY_VERIFY_WITH_TIMEOUT(window.findChild<StatusStrip *>()->activeRun() != QString(), 10'000);
        window.openMonitor(window.workspace()->runs().front().folder);
        QTRY_VERIFY_WITH_TIMEOUT(lossPoints(window) > 5, 15'000);
        const std::size_t before = lossPoints(window);
        QTRY_VERIFY_WITH_TIMEOUT(lossPoints(window) > before, 15'000);
        auto *stop = window.monitorScreen()->findChild<QPushButton *>("stop");
        QTRY_VERIFY_WITH_TIMEOUT(stop->isVisible(), 10'000);
        QTest::mouseClick(stop, Qt::LeftButton);
        QTest::mouseClick(stop, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(window.workspace()->runs().front().record.state == runs::State::Interrupted, 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(!stop->isVisible(), 10'000);
        QVERIFY(!runs::supervisorAlive(window.workspace()->runs().front().record));
    }

    void theProgramSaysWhatItDoesNotKnow_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("said");
        QTest::newRow("theme") << QStringList{"--theme", "blue"} << "use light or dark";
        QTest::newRow("size") << QStringList{"--screenshots", m_cache.filePath("shots"), "--size", "big"} << "--size big";
        QTest::newRow("folder") << QStringList{"--screenshots", "/proc/nowhere"} << "/proc/nowhere";
    }
    void theProgramSaysWhatItDoesNotKnow()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, said);
        QProcess studio;
        studio.start(QStringLiteral(PARALLAX_BIN_DIR "/parallax-studio"),
                     arguments + QStringList{"--workspace", m_cache.filePath("runs")});
        QVERIFY2(studio.waitForFinished(30'000), qPrintable(studio.errorString()));
        QCOMPARE(studio.exitCode(), 2);
        const QString text = QString::fromUtf8(studio.readAllStandardError());
        QVERIFY2(text.contains(said), qPrintable(text));
    }

    /// A misspelt variable would silently mean the default.
    void theProgramNamesVariablesItDoesNotKnow()
    {
        QProcess studio;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("PARALLAX_RUN"), QStringLiteral("/x"));
        studio.setProcessEnvironment(environment);
        studio.start(QStringLiteral(PARALLAX_BIN_DIR "/parallax-studio"), {"--workspace", m_cache.filePath("runs")});
        QByteArray said;
        QTRY_VERIFY_WITH_TIMEOUT((said += studio.readAllStandardError()).contains("PARALLAX_RUNS"), 30'000);
        QVERIFY2(said.contains("PARALLAX_RUN (did you mean"), said.constData());
        studio.kill();
        QVERIFY(studio.waitForFinished(10'000));
    }

    void screenshotsOfEveryScreen()
    {
        QTemporaryDir folder, out;
        SyntheticWriter writer(session::toPath(folder.path()), {});
        MainWindow window(folder.path());
        const Status done = takeScreenshots(&window, out.path(), 1100, 700);
        QVERIFY2(done, done ? "" : done.error().message().c_str());
        for (const char *name :
             {"runs-light", "runs-dark", "new-run-light", "monitor-light", "monitor-dark", "embeddings-dark"}) {
            const QImage image(out.path() + '/' + QLatin1String(name) + ".png");
            QVERIFY2(!image.isNull(), name);
            QCOMPARE(image.size(), QSize(1100, 700));
        }
        const Status refused = takeScreenshots(&window, "/proc/nowhere");
        QVERIFY(!refused);
    }

private:
    QString m_worker, m_cli;
    QTemporaryDir m_cache, m_runtime;
};

QTEST_MAIN(TestShell)
#include "tst_shell.moc"
