// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "syntheticruns.h"

#include "core/session/qtconvert.h"
#include "core/session/workspace.h"
#include "ui/monitor/chartgrid.h"
#include "ui/monitor/monitorscreen.h"
#include "ui/runs/runactions.h"
#include "ui/widgets/chartcard.h"
#include "ui/widgets/controls.h"

#include <QLocale>
#include <QMenu>
#include <QSettings>
#include <QSlider>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <qcustomplot.h>

#include <algorithm>

using namespace parallax;
using namespace parallax::ui;
using test::SyntheticWriter;

namespace {

Chart *chartNamed(MonitorScreen &screen, const QString &title)
{
    for (ChartCard *card : screen.charts()->cards())
        if (card->title() == title) return card->chart();
    return nullptr;
}

} // namespace

class TestChartGrid : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("parallax-test-chartgrid"));
        QLocale::setDefault(QLocale::c());
        Theme::instance().setMode(Theme::Mode::Light, false);
    }

    void axesAndSmoothing()
    {
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()), {});
        session::Workspace workspace(folder.path());
        RunActions actions;
        MonitorScreen screen(&workspace, &actions);
        screen.resize(1360, 830);
        screen.show();
        screen.openRun(session::toQString(writer.folder().path()));
        Chart *loss = chartNamed(screen, "Loss");
        QTRY_COMPARE(loss->series().size(), std::size_t(1));
        QTRY_COMPARE(loss->series()[0].x.size(), std::size_t(200));
        auto *mode = screen.findChild<SegmentedControl *>();
        QTest::mouseClick(mode->segment(1), Qt::LeftButton);
        QCOMPARE(screen.charts()->xMode(), XMode::Epoch);
        QCOMPARE(loss->series()[0].x.back(), 5.0);
        QTest::mouseClick(mode->segment(2), Qt::LeftButton);
        QVERIFY(loss->series()[0].x.front() >= 0 && loss->series()[0].x.back() < 60);
        auto *slider = screen.findChild<QSlider *>();
        slider->setValue(0);
        loss->flush();
        QCOMPARE(loss->shownValue(0), loss->series()[0].y.back());
        slider->setValue(90);
        loss->flush();
        QVERIFY(loss->shownValue(0) != loss->series()[0].y.back());
        loss->setXRange(0, 1);
        QTest::mouseDClick(loss->findChild<QCustomPlot *>(), Qt::LeftButton, {}, QPoint(100, 60));
        QVERIFY(loss->following());
    }

    /// Shown, hidden and moved by the menus; the next window has them where they were. A figure that nobody foresaw has a
    /// chart as well.
    void chartsAreChosenAndRemembered()
    {
        QSettings().remove(QStringLiteral("monitor/charts"));
        QTemporaryDir folder;
        SyntheticWriter writer(session::toPath(folder.path()), {});
        writer.event(0, "metrics", writer.step() + 1, {{"loss", 2.0}, {"loss_scale", 1024}, {"lr", 0.5}});
        session::Workspace workspace(folder.path());
        RunActions actions;
        const auto titles = [](MonitorScreen &screen) {
            QStringList all;
            for (ChartCard *card : screen.charts()->cards()) all << card->title();
            return all;
        };
        const auto choose = [](QMenu &menu, const QString &text) {
            for (QAction *action : menu.actions())
                if (action->text() == text) return action->trigger();
            QFAIL(qPrintable("no " + text));
        };
        {
            MonitorScreen screen(&workspace, &actions);
            screen.resize(1360, 830);
            screen.show();
            screen.openRun(session::toQString(writer.folder().path()));
            QTRY_VERIFY(!chartNamed(screen, "Loss")->series().empty());
            QCOMPARE(titles(screen), QStringList({"Loss", "kNN accuracy", "Memory", "Throughput", "Step time", "Health"}));
            QMenu menu;
            screen.charts()->fillMenu(&menu);
            choose(menu, "Learning rate");
            choose(menu, "Loss scale");
            choose(menu, "Memory");
            QCOMPARE(chartNamed(screen, "Learning rate")->series()[0].y.back(), 0.5);
            QCOMPARE(chartNamed(screen, "Loss scale")->series()[0].y.back(), 1024.0);
            QVERIFY(chartNamed(screen, "Step time")->series()[1].name.endsWith("slowest"));
            auto *card = screen.findChild<ChartCard *>("knn");
            auto *cardMenu = card->findChild<QMenu *>();
            Q_EMIT cardMenu->aboutToShow();
            choose(*cardMenu, "Move before");
            Q_EMIT cardMenu->aboutToShow();
            const QList<QAction *> items = cardMenu->actions();
            const auto before = std::ranges::find(items, "Move before", [](const QAction *each) { return each->text(); });
            QVERIFY(before != items.end() && !(*before)->isEnabled()); // there is no place before the first
            choose(*cardMenu, "Enlarge");
            QVERIFY(card->isVisible() && !screen.findChild<ChartCard *>("loss")->isVisible());
            Q_EMIT cardMenu->aboutToShow();
            choose(*cardMenu, "All charts");
            QVERIFY(screen.findChild<ChartCard *>("loss")->isVisible());
        }
        MonitorScreen again(&workspace, &actions);
        again.resize(1360, 830);
        again.show();
        again.openRun(session::toQString(writer.folder().path()));
        QCOMPARE(titles(again),
                 QStringList({"kNN accuracy", "Loss", "Throughput", "Step time", "Health", "Learning rate", "Loss scale"}));
        for (ChartCard *card : again.charts()->cards()) QTRY_VERIFY(card->isVisible() && card->width() > 100);
        QMenu menu;
        again.charts()->fillMenu(&menu);
        choose(menu, "First choice again");
        QCOMPARE(titles(again).size(), 6);
        QTRY_VERIFY(chartNamed(again, "Memory")->isVisible());
        QVERIFY(!again.findChild<ChartCard *>("lr")->isVisible());
        // The last one stays: there is always something to look at.
        again.charts()->setShown({"loss"});
        again.charts()->fillMenu(&menu);
        const QList<QAction *> entries = menu.actions();
        const auto last = std::ranges::find(entries, "Loss", [](const QAction *each) { return each->text(); });
        QVERIFY(last != entries.end() && (*last)->isChecked() && !(*last)->isEnabled());
    }
};

QTEST_MAIN(TestChartGrid)
#include "tst_chartgrid.moc"
