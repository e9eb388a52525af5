// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/embeddingfixture.h"
#include "ui/experiment/affixedit.h"
#include "ui/experiment/banner.h"
#include "ui/experiment/checkcard.h"
#include "ui/experiment/commandcard.h"
#include "ui/experiment/draft.h"
#include "ui/experiment/fieldeditor.h"
#include "ui/experiment/fieldrow.h"
#include "ui/experiment/formview.h"
#include "ui/experiment/newrunscreen.h"
#include "ui/experiment/planner.h"
#include "ui/experiment/sectionlist.h"
#include "ui/experiment/viewscard.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/page.h"

#include <QClipboard>
#include <QComboBox>
#include <QDropEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QSettings>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <memory>

using namespace parallax;
using namespace parallax::experiment;
using config::Field;
using config::Json;
using config::Type;

class TestNewRun : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();

    void formHasARowForEveryField();
    void methodBringsItsFields();
    void errorBlocksStartAndIsNamed();
    void decimalCommaInAField();
    void sliderAndStepKeys();
    void resetGoesBack();
    void searchAndAdvanced();
    void sectionsShowCountsAndScroll();
    void viewsAndCheckFollow();
    void methodsAdviseOnRanks();
    void workerErrorStandsAtTheField();
    void olderAnswersAreDropped();
    void commandIsCopied();
    void startRunsTheCommandLine();
    void startErrorIsShownInPlace();
    void brokenConfigsAreRefused_data();
    void brokenConfigsAreRefused();
    void configAndFolderAreDropped();
    void runIsCloned();
    void narrowWindowFoldsTheRightColumn();
    void missingWorkerIsSaid();

private:
    void open(const QString &preset = QStringLiteral("demo"));
    QLineEdit *edit(const char *key) const;
    QPushButton *startButton() const { return m_screen->findChild<QPushButton *>(QStringLiteral("start")); }
    void type(const char *key, const QString &text) const;
    void fakeCli(const QByteArray &script);
    void drop(const QStringList &files);

    std::unique_ptr<QTemporaryDir> m_dir, m_cache;
    std::unique_ptr<session::Workspace> m_workspace;
    std::unique_ptr<NewRunScreen> m_screen;
};

void TestNewRun::initTestCase()
{
    m_cache = std::make_unique<QTemporaryDir>();
    qputenv("XDG_CACHE_HOME", m_cache->path().toUtf8());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_cache->path());
    ui::Theme::instance().setMode(ui::Theme::Mode::Light, false);
}

void TestNewRun::init()
{
    qputenv("PARALLAX_WORKER", PARALLAX_TEST_BIN_DIR "/fakeworker");
    m_dir = std::make_unique<QTemporaryDir>();
    QLocale::setDefault(QLocale::c());
}

void TestNewRun::cleanup()
{
    m_screen.reset();
    m_workspace.reset();
    m_dir.reset();
    qunsetenv("PARALLAX_CLI");
    qunsetenv("FAKEWORKER");
}

void TestNewRun::open(const QString &preset)
{
    m_workspace = std::make_unique<session::Workspace>(m_dir->filePath(QStringLiteral("runs")));
    m_screen = std::make_unique<NewRunScreen>(m_workspace.get());
    m_screen->resize(1360, 832);
    m_screen->loadPreset(preset); // waits for the schema
    m_screen->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_screen.get()));
    QTRY_VERIFY(m_screen->isReady());
}

QLineEdit *TestNewRun::edit(const char *key) const
{
    return qobject_cast<QLineEdit *>(m_screen->form()->row(QLatin1String(key))->editor()->input());
}

void TestNewRun::type(const char *key, const QString &text) const
{
    QLineEdit *line = edit(key);
    QVERIFY(line);
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, text);
}

void TestNewRun::fakeCli(const QByteArray &script)
{
    const QString file = m_dir->filePath(QStringLiteral("cli.sh"));
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write("#!/bin/sh\n" + script);
    out.close();
    QVERIFY(out.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
    qputenv("PARALLAX_CLI", file.toUtf8());
}

void TestNewRun::drop(const QStringList &files)
{
    QMimeData data;
    QList<QUrl> urls;
    for (const QString &file : files) urls << QUrl::fromLocalFile(file);
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(20, 20), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_screen.get(), &enter); // makes the screen the target of the drop
    QVERIFY(enter.isAccepted());
    QDropEvent event(QPointF(20, 20), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_screen.get(), &event);
}

void TestNewRun::formHasARowForEveryField()
{
    open();
    for (const Field *field : m_screen->draft()->fields()) {
        const auto *row = m_screen->form()->row(QString::fromStdString(field->key));
        QVERIFY2(row, field->key.c_str());
        if (field->key != "distributed.devices") QVERIFY2(row->editor()->input(), field->key.c_str());
    }
    QVERIFY(dynamic_cast<SliderEditor *>(m_screen->form()->row(QStringLiteral("augment.blur_p"))->editor()));
    QVERIFY(dynamic_cast<SwitchEditor *>(m_screen->form()->row(QStringLiteral("distributed.sync_bn"))->editor()));
    QVERIFY(dynamic_cast<ChoiceEditor *>(m_screen->form()->row(QStringLiteral("method.name"))->editor()));
    QCOMPARE(edit("data.source")->text(), QStringLiteral("Fashion-MNIST"));
    QVERIFY(!m_screen->form()->row(QStringLiteral("distributed.devices"))->isVisible()); // no GPU here
    QCOMPARE(m_screen->draft()->changeCount(), 0);
}

void TestNewRun::methodBringsItsFields()
{
    open();
    QVERIFY(m_screen->form()->row(QStringLiteral("method.temperature")));
    auto *box = qobject_cast<QComboBox *>(m_screen->form()->row(QStringLiteral("method.name"))->editor()->input());
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Home);
    QTest::keyClick(box, Qt::Key_End); // BYOL is the second of the two
    QTRY_VERIFY(m_screen->form()->row(QStringLiteral("method.momentum")));
    QVERIFY(!m_screen->form()->row(QStringLiteral("method.temperature")));
    QVERIFY(m_screen->form()->row(QStringLiteral("method.momentum"))->isVisible());
}

void TestNewRun::errorBlocksStartAndIsNamed()
{
    open();
    QTRY_VERIFY(startButton()->isEnabled());
    type("train.batch_size", QStringLiteral("0"));
    QVERIFY(!startButton()->isEnabled());
    QVERIFY2(startButton()->toolTip().contains(QLatin1String("Batch size")), qPrintable(startButton()->toolTip()));
    QCOMPARE(edit("train.batch_size")->property("state").toString(), QStringLiteral("error"));
    QVERIFY(m_screen->form()->row(QStringLiteral("train.batch_size"))->note().contains(QLatin1String("whole number")));
    QCOMPARE(m_screen->draft()->problemCount("train"), 1);
    type("train.batch_size", QStringLiteral("twelve"));
    QVERIFY(!startButton()->isEnabled());
    type("train.batch_size", QStringLiteral("96"));
    QVERIFY(edit("train.batch_size")->property("state").toString().isEmpty());
    QTRY_VERIFY(startButton()->isEnabled());
    type("data.source", QStringLiteral(" "));
    QVERIFY(!startButton()->isEnabled());
}

void TestNewRun::decimalCommaInAField()
{
    QLocale::setDefault(QLocale(QStringLiteral("de_DE")));
    open();
    type("optim.base_lr", QStringLiteral("0,05"));
    QVERIFY(*config::lookup(m_screen->draft()->config(), "optim.base_lr") == 0.05);
    type("optim.base_lr", QStringLiteral("0.05"));
    QVERIFY(*config::lookup(m_screen->draft()->config(), "optim.base_lr") == 0.05);
    QCOMPARE(edit("optim.base_lr")->text(), QStringLiteral("0.05")); // not rewritten under the fingers
    QTest::keyClick(edit("optim.base_lr"), Qt::Key_Tab);
    QCOMPARE(edit("optim.base_lr")->text(), QStringLiteral("0,05"));
    QVERIFY(m_screen->command()->text().contains(QLatin1String("optim.base_lr=0.05")));
}

void TestNewRun::sliderAndStepKeys()
{
    open();
    auto *slider = m_screen->form()->row(QStringLiteral("augment.jitter_p"))->editor()->findChild<QSlider *>();
    slider->setFocus();
    slider->setValue(30);
    QVERIFY(*config::lookup(m_screen->draft()->config(), "augment.jitter_p") == 0.3);
    QCOMPARE(edit("augment.jitter_p")->text(), QStringLiteral("0.3"));
    type("augment.jitter_p", QStringLiteral("0.55"));
    QCOMPARE(slider->value(), 55);
    edit("train.epochs")->setFocus();
    const auto before = config::lookup(m_screen->draft()->config(), "train.epochs")->get<int>();
    QTest::keyClick(edit("train.epochs"), Qt::Key_Up);
    QVERIFY(*config::lookup(m_screen->draft()->config(), "train.epochs") == before + 1);
    QCOMPARE(edit("train.epochs")->text(), QString::number(before + 1));
}

void TestNewRun::resetGoesBack()
{
    open();
    auto *row = m_screen->form()->row(QStringLiteral("train.epochs"));
    QVERIFY(!row->resetButton()->isVisible());
    const QString before = edit("train.epochs")->text();
    type("train.epochs", QStringLiteral("77"));
    QTRY_VERIFY(row->resetButton()->isVisible());
    m_screen->form()->reveal(QStringLiteral("train.epochs"));
    QTest::mouseClick(row->resetButton(), Qt::LeftButton);
    QCOMPARE(m_screen->draft()->changeCount(), 0);
    QCOMPARE(edit("train.epochs")->text(), before);
}

void TestNewRun::searchAndAdvanced()
{
    open();
    auto *search = m_screen->findChild<ui::SearchField *>();
    const auto shown = [this](const char *key) { return m_screen->form()->row(QLatin1String(key))->isVisible(); };
    QVERIFY(!shown("augment.brightness") && shown("train.epochs"));
    QTest::keyClicks(search, QStringLiteral("bright"));
    QVERIFY(shown("augment.brightness") && !shown("train.epochs")); // the search finds advanced ones
    search->clear();
    QVERIFY(!shown("augment.brightness") && shown("train.epochs"));
    QTest::keyClicks(search, QStringLiteral("nothing like it"));
    QVERIFY(!shown("train.epochs"));
    search->clear();
    for (auto *control : m_screen->findChildren<ui::SegmentedControl *>())
        for (int i = 0; i < control->count(); ++i)
            if (control->segment(i)->text() == QLatin1String("Advanced"))
                QTest::mouseClick(control->segment(i), Qt::LeftButton);
    QVERIFY(shown("augment.brightness"));
}

void TestNewRun::sectionsShowCountsAndScroll()
{
    open();
    QTest::mouseClick(m_screen->sections()->button(QStringLiteral("eval")), Qt::LeftButton);
    QVERIFY(!m_screen->form()->row(QStringLiteral("eval.every_epochs"))->visibleRegion().isEmpty());
    type("eval.knn_k", QStringLiteral("20"));
    QCOMPARE(m_screen->sections()->button(QStringLiteral("eval"))->accessibleDescription(), QStringLiteral("1 changed"));
    type("eval.knn_k", QStringLiteral("-"));
    QCOMPARE(m_screen->sections()->button(QStringLiteral("eval"))->accessibleDescription(), QStringLiteral("1 error"));
}

void TestNewRun::viewsAndCheckFollow()
{
    open();
    QTRY_COMPARE(m_screen->views()->grid()->images().size(), std::size_t(3));
    const auto &image = m_screen->views()->grid()->images().front();
    QCOMPARE(image.views.size(), std::size_t(2));
    QVERIFY(!image.original.isNull() && !image.views[1][1].isNull());
    const QString first = image.name;
    QTest::mouseClick(m_screen->views()->otherImages(), Qt::LeftButton);
    QVERIFY(m_screen->views()->grid()->images().front().name != first);
    QTRY_COMPARE(m_screen->checks()->verdict(), QStringLiteral("Ready"));
    type("distributed.ranks", QStringLiteral("2"));
    type("train.batch_size", QStringLiteral("256"));
    QTRY_COMPARE(m_screen->form()->row(QStringLiteral("train.batch_size"))->note(), QStringLiteral("128 per rank"));
    QVERIFY(m_screen->form()->row(QStringLiteral("optim.base_lr"))->note().contains(QLatin1String("after scaling")));
}

void TestNewRun::methodsAdviseOnRanks()
{
    open();
    const auto note = [this] { return m_screen->form()->row(QStringLiteral("distributed.gather"))->note(); };
    QTRY_COMPARE(note(), QStringLiteral("Needed here."));
    type("distributed.ranks", QStringLiteral("2"));
    const Field *gather = m_screen->draft()->field(QStringLiteral("distributed.gather"));
    m_screen->draft()->setValue(*gather, false);
    QTRY_VERIFY(note().contains(QLatin1String("gather is off")));
    QTRY_COMPARE(m_screen->checks()->verdict(), QStringLiteral("Ready, 1 warning"));
    m_screen->draft()->setValue(*m_screen->draft()->field(QStringLiteral("method.name")), "byol");
    QTRY_COMPARE(note(), QStringLiteral("No effect here."));
}

void TestNewRun::workerErrorStandsAtTheField()
{
    open();
    QTRY_VERIFY(m_screen->planner()->plan().has_value());
    type("train.batch_size", QStringLiteral("6000"));
    QTRY_VERIFY(
        m_screen->form()->row(QStringLiteral("train.batch_size"))->note().contains(QLatin1String("larger than the data")));
    QVERIFY(!startButton()->isEnabled());
    QCOMPARE(m_screen->checks()->verdict(), QStringLiteral("Cannot start"));
    type("train.batch_size", QStringLiteral("60"));
    QTRY_VERIFY(startButton()->isEnabled());
    QTRY_COMPARE(m_screen->checks()->verdict(), QStringLiteral("Ready"));
}

void TestNewRun::olderAnswersAreDropped()
{
    qputenv("FAKEWORKER", "job_ms=150");
    open();
    QTRY_VERIFY(m_screen->planner()->plan().has_value());
    for (const char *batch : {"100", "200", "50"}) {
        type("train.batch_size", QLatin1String(batch));
        m_screen->planner()->checkNow();
    }
    QTRY_VERIFY(!m_screen->planner()->isChecking());
    QCOMPARE(planNumber(*m_screen->planner()->plan(), "steps_per_epoch"), 100);
}

void TestNewRun::commandIsCopied()
{
    open();
    type("train.epochs", QStringLiteral("9"));
    QTest::mouseClick(m_screen->command()->copyButton(), Qt::LeftButton);
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QStringLiteral("parallax train --preset demo \\\n  --set train.epochs=9"));
    m_screen->command()->tabs()->setCurrent(1);
    const auto config = config::parseStrict(m_screen->command()->text().toStdString(), "config");
    QVERIFY(config.ok());
    QVERIFY(*config == m_screen->draft()->config());
    m_screen->command()->tabs()->setCurrent(2);
    QVERIFY(m_screen->command()->text().contains(QRegularExpression(QStringLiteral("^train\\.epochs: \\d+ → 9"))));
}

void TestNewRun::startRunsTheCommandLine()
{
    open();
    const QString log = m_dir->filePath(QStringLiteral("arguments")), kept = m_dir->filePath(QStringLiteral("kept.json"));
    fakeCli("printf '%s\\n' \"$@\" > '" + log.toUtf8() + "'\ncp \"$5\" '" + kept.toUtf8() +
            "'\necho '{\"run\": \"/runs/new\"}'\n");
    type("train.epochs", QStringLiteral("4"));
    QTRY_VERIFY(startButton()->isEnabled());
    QSignalSpy spy(m_screen.get(), &NewRunScreen::started);
    QTest::keyClick(edit("train.epochs"), Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(!startButton()->isEnabled()); // not twice
    QTRY_COMPARE(spy.count(), 1);
    QCOMPARE(spy.first().first().toString(), QStringLiteral("/runs/new"));
    QFile file(log);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QStringList words = QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'));
    QCOMPARE(words.mid(0, 4), (QStringList{"train", "--detach", "--json", "--config"}));
    QVERIFY(words.contains(QLatin1String("--runs")) && words.contains(m_workspace->folder()));
    QVERIFY(!words.contains(QLatin1String("--name"))); // unnamed runs are called alike everywhere
    const auto config = config::readFile(kept.toStdString());
    QVERIFY(config.ok());
    QVERIFY(*config::lookup(*config, "train.epochs") == 4);
}

void TestNewRun::startErrorIsShownInPlace()
{
    open();
    fakeCli("echo '{\"error\": {\"what\": \"No space left\", \"where\": \"output.embed_limit\", \"hint\": \"Make room\"}}'; "
            "exit 2\n");
    QTRY_VERIFY(startButton()->isEnabled());
    QTest::mouseClick(startButton(), Qt::LeftButton);
    QTRY_VERIFY(m_screen->banner()->isVisible());
    QVERIFY2(m_screen->banner()->text().contains(QLatin1String("No space left. Make room")),
             qPrintable(m_screen->banner()->text()));
    QVERIFY(m_screen->form()->row(QStringLiteral("output.embed_limit"))->isVisible()); // although it is advanced
    QVERIFY(startButton()->isEnabled());
}

void TestNewRun::brokenConfigsAreRefused_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<bool>("accepted");
    const QDir folder(QStringLiteral(PARALLAX_SOURCE_DIR "/tests/data/config"));
    for (const QString &name : folder.entryList(QDir::Files)) {
        if (name == QLatin1String("expected.json")) continue;
        QTest::newRow(qPrintable(name)) << folder.filePath(name)
                                        << (name == QLatin1String("bom.json") || name == QLatin1String("comments.json"));
    }
}

void TestNewRun::brokenConfigsAreRefused()
{
    QFETCH(QString, file);
    QFETCH(bool, accepted);
    if (!m_screen) open();
    const Json before = m_screen->draft()->config();
    drop({file});
    if (accepted) { // well-formed; its keys may still be unknown to this schema
        QVERIFY2(!m_screen->banner()->isVisible() || !m_screen->banner()->text().contains(QLatin1String("cannot be read")),
                 qPrintable(m_screen->banner()->text()));
        return;
    }
    QVERIFY(m_screen->banner()->isVisible());
    QVERIFY2(m_screen->banner()->text().contains(QFileInfo(file).fileName()), qPrintable(m_screen->banner()->text()));
    QVERIFY(m_screen->draft()->config() == before);
}

void TestNewRun::configAndFolderAreDropped()
{
    open();
    const QString file = m_dir->filePath(QStringLiteral("mine.json"));
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write("{\"train\": {\"epochs\": 31}, \"data\": {\"source\": \"fashion-mnist\"}}");
    out.close();
    drop({file});
    QVERIFY2(!m_screen->banner()->isVisible(), qPrintable(m_screen->banner()->text()));
    QVERIFY(*config::lookup(m_screen->draft()->config(), "train.epochs") == 31);
    QVERIFY(m_screen->command()->text().contains(QLatin1String("--config")));
    drop({m_dir->path()});
    QCOMPARE(edit("data.source")->text(), m_dir->path());
    QVERIFY(out.open(QIODevice::WriteOnly | QIODevice::Truncate));
    out.write("{\"train\": {\"epocs\": 3, \"batch_size\": \"many\"}}");
    out.close();
    drop({file}); // both mistakes in one message, with the nearest key
    QVERIFY(m_screen->banner()->text().contains(QLatin1String("train.epochs")));
    QVERIFY(m_screen->banner()->text().contains(QLatin1String("train.batch_size")));
    drop({file, m_dir->path()});
    QVERIFY(m_screen->banner()->text().contains(QLatin1String("More than one")));
}

void TestNewRun::runIsCloned()
{
    const auto run = testing::makeRun(m_dir->filePath(QStringLiteral("runs")).toStdString(), "the-first");
    QFile out(QString::fromStdString(run.config().string()));
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write("{\"train\": {\"epochs\": 42}, \"data\": {\"source\": \"fashion-mnist\"}}");
    out.close();
    open();
    m_screen->cloneRun(QString::fromStdString(run.path().string()));
    QVERIFY(*config::lookup(m_screen->draft()->config(), "train.epochs") == 42);
    QCOMPARE(m_screen->draft()->changeCount(), 0);
    m_screen->cloneRun(QStringLiteral("/nowhere"));
    QVERIFY(m_screen->banner()->text().contains(QLatin1String("/nowhere")));
    m_screen->loadPreset(QStringLiteral("dmeo"));
    QVERIFY2(m_screen->banner()->text().contains(QLatin1String("demo")), qPrintable(m_screen->banner()->text()));
}

void TestNewRun::narrowWindowFoldsTheRightColumn()
{
    open();
    QVERIFY(m_screen->views()->isVisible() && m_screen->form()->isVisible());
    m_screen->resize(1020, 632);
    QTRY_VERIFY(!m_screen->views()->isVisible() && m_screen->form()->isVisible());
    for (auto *control : m_screen->findChildren<ui::SegmentedControl *>())
        for (int i = 0; i < control->count(); ++i)
            if (control->segment(i)->text() == QLatin1String("Views and check"))
                QTest::mouseClick(control->segment(i), Qt::LeftButton);
    QVERIFY(m_screen->views()->isVisible() && !m_screen->form()->isVisible());
}

void TestNewRun::missingWorkerIsSaid()
{
    qputenv("PARALLAX_WORKER", "/nowhere/parallax-worker");
    m_workspace = std::make_unique<session::Workspace>(m_dir->path());
    m_screen = std::make_unique<NewRunScreen>(m_workspace.get());
    m_screen->loadPreset(QStringLiteral("demo"));
    m_screen->show();
    auto *empty = m_screen->findChild<ui::EmptyState *>();
    auto *again = empty->findChild<QPushButton *>();
    QTRY_VERIFY(again->isVisible());
    QString text;
    for (const auto *label : empty->findChildren<QLabel *>()) text += label->text();
    QVERIFY2(text.contains(QLatin1String("/nowhere/parallax-worker")), qPrintable(text));
    qputenv("PARALLAX_WORKER", PARALLAX_TEST_BIN_DIR "/fakeworker");
    QTest::mouseClick(again, Qt::LeftButton);
    QTRY_VERIFY(m_screen->isReady());
    QCOMPARE(m_screen->draft()->base().arguments, (QStringList{"--preset", "demo"})); // the preset waited
}

QTEST_MAIN(TestNewRun)
#include "tst_newrun.moc"
