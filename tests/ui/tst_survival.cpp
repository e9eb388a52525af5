// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the studio says of runs that died, and what becomes of runs whose studio died. The studio of these tests is this
// program itself, started again with --studio.
#include "tests/support/sandbox.h"

#include "core/session/control.h"
#include "ui/experiment/newrunscreen.h"
#include "ui/monitor/chartgrid.h"
#include "ui/monitor/failurecard.h"
#include "ui/monitor/monitorscreen.h"
#include "ui/shell/mainwindow.h"

#include <QApplication>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QTimer>

#include <csignal>
#include <cstdio>

using namespace parallax;
using namespace parallax::ui;

namespace {

const char *const studioOption = "--studio";

/// Starts the demo as a person would, says where it lies, and stays.
int studio(const QString &workspace)
{
    MainWindow window(workspace);
    window.show();
    window.openPreset(QStringLiteral("demo"));
    QObject::connect(window.newRunScreen(), &experiment::NewRunScreen::started, &window, [](const QString &folder) {
        std::printf("%s\n", qPrintable(folder));
        std::fflush(stdout);
    });
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, &window, [&] {
        auto *start = window.newRunScreen()->findChild<QPushButton *>(QStringLiteral("start"));
        if (!start || !start->isEnabled()) return;
        look.stop();
        start->click();
    });
    look.start(20);
    return QApplication::exec();
}

runs::RunRecord recordOf(const QString &folder)
{
    return runs::RunRecord::load(runs::RunFolder(session::toPath(folder))).value();
}

std::string stateOnDisk(const QString &run) { return toString(recordOf(run).state); }

std::string stateShown(const MainWindow &window, const QString &run)
{
    const session::RunSummary *found = window.workspace()->find(run);
    return found ? toString(found->record.state) : std::string();
}

/// A studio in a process of its own that has started a run.
class Studio
{
public:
    explicit Studio(const testing::Sandbox &box)
    {
        m_process.setProcessChannelMode(QProcess::SeparateChannels);
        m_process.start(QCoreApplication::applicationFilePath(), {QString::fromLatin1(studioOption), box.runs()});
    }
    ~Studio() { kill(); }
    QString startedRun()
    {
        if (m_run.isEmpty()) m_run = QString::fromUtf8(m_process.readAllStandardOutput()).trimmed();
        return m_run;
    }
    void kill()
    {
        if (m_process.state() == QProcess::NotRunning) return;
        ::kill(pid_t(m_process.processId()), SIGKILL);
        m_process.waitForFinished();
    }

private:
    QProcess m_process;
    QString m_run;
};

QString textsOf(const QWidget *widget)
{
    QString all;
    for (const QLabel *label : widget->findChildren<QLabel *>()) all += label->text() + QLatin1Char('\n');
    return all;
}

} // namespace

class TestSurvival : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { m_box = std::make_unique<testing::Sandbox>(); }
    void cleanup() { m_box.reset(); }

    void trainingOutlivesItsStudio()
    {
        m_box->script("rate=40");
        QString run;
        {
            Studio first(*m_box);
            QTRY_VERIFY_WITH_TIMEOUT(!(run = first.startedRun()).isEmpty(), 30'000);
            QTRY_COMPARE_WITH_TIMEOUT(stateOnDisk(run), std::string("running"), 15'000);
            first.kill();
        }
        QVERIFY(runs::supervisorAlive(recordOf(run)));
        MainWindow next(m_box->runs());
        next.show();
        QTRY_VERIFY_WITH_TIMEOUT(next.workspace()->find(run), 10'000);
        QCOMPARE(stateShown(next, run), std::string("running"));
        const auto step = next.workspace()->find(run)->step;
        QTRY_VERIFY_WITH_TIMEOUT(next.workspace()->find(run)->step > step, 15'000); // it goes on
        next.openMonitor(run);
        auto *stop = next.monitorScreen()->findChild<QPushButton *>(QStringLiteral("stop"));
        QTRY_VERIFY_WITH_TIMEOUT(stop->isVisible(), 10'000);
        QTest::mouseClick(stop, Qt::LeftButton);
        QTest::mouseClick(stop, Qt::LeftButton); // and obeys the next studio
        QTRY_COMPARE_WITH_TIMEOUT(stateOnDisk(run), std::string("interrupted"), 20'000);
    }

    void aDeadSupervisorIsSeenAtTheNextStart()
    {
        m_box->script("rate=40");
        QString run;
        {
            Studio first(*m_box);
            QTRY_VERIFY_WITH_TIMEOUT(!(run = first.startedRun()).isEmpty(), 30'000);
            QTRY_COMPARE_WITH_TIMEOUT(stateOnDisk(run), std::string("running"), 15'000);
            first.kill();
        }
        ::kill(pid_t(recordOf(run).pid), SIGKILL);
        QTRY_VERIFY(!runs::supervisorAlive(recordOf(run)));
        QTRY_VERIFY_WITH_TIMEOUT(m_box->processes().empty(), 15'000); // its ranks end by themselves
        MainWindow next(m_box->runs());
        next.show();
        QTRY_VERIFY_WITH_TIMEOUT(next.workspace()->find(run), 10'000);
        QTRY_COMPARE(stateShown(next, run), std::string("interrupted"));
        next.openMonitor(run);
        auto *card = next.monitorScreen()->findChild<FailureCard *>();
        QTRY_VERIFY(card->isVisible());
        QVERIFY2(textsOf(card).contains(QLatin1String("upervisor is gone")), qPrintable(textsOf(card)));
        QCOMPARE(stateOnDisk(run), std::string("interrupted")); // on disk as well, for everybody
    }

    void aDeadRankIsNamed_data()
    {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<QString>("said");
        QTest::newRow("SIGKILL") << QByteArray("rate=60 r1:stderr=300@11 r1:kill=9@12") << "SIGKILL";
        QTest::newRow("SIGSEGV") << QByteArray("rate=60 r1:stderr=300@11 r1:kill=11@12") << "SIGSEGV";
    }
    void aDeadRankIsNamed()
    {
        QFETCH(QByteArray, script);
        QFETCH(QString, said);
        m_box->script(script.constData());
        Studio studio(*m_box);
        QString run;
        QTRY_VERIFY_WITH_TIMEOUT(!(run = studio.startedRun()).isEmpty(), 30'000);
        MainWindow window(m_box->runs());
        window.show();
        QTRY_VERIFY_WITH_TIMEOUT(window.workspace()->find(run), 10'000);
        QTRY_COMPARE_WITH_TIMEOUT(stateShown(window, run), std::string("failed"), 20'000);
        window.openMonitor(run);
        auto *card = window.monitorScreen()->findChild<FailureCard *>();
        QTRY_VERIFY(card->isVisible());
        const QString texts = textsOf(card);
        QVERIFY2(texts.contains(QLatin1String("ank 1")) && texts.contains(said), qPrintable(texts));
        const auto *words = card->findChild<QPlainTextEdit *>();
        QVERIFY2(!words->toPlainText().isEmpty(), "the rank's last lines");
    }

private:
    std::unique_ptr<testing::Sandbox> m_box;
};

int main(int argc, char **argv)
{
    QStandardPaths::setTestModeEnabled(true);
    QApplication app(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("parallax-test-survival"));
    if (argc == 3 && QByteArray(argv[1]) == studioOption) return studio(QString::fromLocal8Bit(argv[2]));
    TestSurvival test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_survival.moc"
