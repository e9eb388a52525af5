// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Under any locale the screen speaks it and files do not. A locale that the system lacks is Qt's alone.
#include "syntheticruns.h"

#include "core/session/plot.h"
#include "core/session/qtconvert.h"
#include "ui/experiment/commandcard.h"
#include "ui/experiment/draft.h"
#include "ui/experiment/fieldeditor.h"
#include "ui/experiment/fieldrow.h"
#include "ui/experiment/formview.h"
#include "ui/experiment/localtext.h"
#include "ui/experiment/newrunscreen.h"
#include "ui/monitor/chartcatalogue.h"
#include "ui/monitor/chartgrid.h"
#include "ui/monitor/runfigures.h"
#include "ui/runs/runtablemodel.h"
#include "ui/widgets/chartcard.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <clocale>

using namespace parallax;
using namespace parallax::ui;
using experiment::NewRunScreen;

namespace {

void useLocale(const QString &name)
{
    QLocale::setDefault(name == QLatin1String("C") ? QLocale::c() : QLocale(name));
    std::setlocale(LC_ALL, "C");
    std::setlocale(LC_ALL, qPrintable(name + QStringLiteral(".UTF-8")));
}

void everyLocale()
{
    QTest::addColumn<QString>("locale");
    for (const char *name : {"C", "de_DE", "fr_FR", "ar_EG"}) QTest::newRow(name) << QString::fromLatin1(name);
}

QByteArray contents(const QString &file)
{
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

} // namespace

class TestLocale : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        qputenv("XDG_CACHE_HOME", m_cache.path().toUtf8());
        qputenv("PARALLAX_WORKER", PARALLAX_TEST_BIN_DIR "/fakeworker");
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_cache.path());
        Theme::instance().setMode(Theme::Mode::Light, false);
    }
    void cleanup() { useLocale(QStringLiteral("C")); }

    void aRunStartsFromTheSameBytes_data() { everyLocale(); }
    void aRunStartsFromTheSameBytes()
    {
        QFETCH(QString, locale);
        useLocale(locale);
        QTemporaryDir dir;
        const QString kept = dir.filePath(QStringLiteral("kept.json"));
        fakeCli(dir.filePath(QStringLiteral("cli.sh")),
                "cp \"$5\" '" + kept.toUtf8() + "'\necho '{\"run\": \"/runs/x\"}'\n");
        session::Workspace workspace(dir.filePath(QStringLiteral("runs")));
        NewRunScreen screen(&workspace);
        screen.loadPreset(QStringLiteral("demo"));
        screen.resize(1360, 832);
        screen.show();
        QTRY_VERIFY(screen.isReady());
        type(screen, "optim.base_lr", QLocale().toString(0.05, 'f', 2));
        type(screen, "optim.weight_decay", QStringLiteral("0.00025"));
        type(screen, "train.batch_size", QLocale().toString(96));
        type(screen, "augment.jitter_p", QLocale().toString(0.55, 'f', 2));
        auto *start = screen.findChild<QPushButton *>(QStringLiteral("start"));
        QTRY_VERIFY2(start->isEnabled(), qPrintable(start->toolTip()));
        const QString command = screen.command()->text();
        QSignalSpy started(&screen, &NewRunScreen::started);
        QTest::mouseClick(start, Qt::LeftButton);
        QTRY_COMPARE(started.count(), 1);
        const QByteArray config = contents(kept);
        QVERIFY(config.contains("\"base_lr\": 0.05,") && config.contains("\"batch_size\": 96,"));
        QVERIFY(command.contains(QLatin1String("--set optim.base_lr=0.05")));
        if (m_config.isEmpty()) { // the first row: C
            m_config = config;
            m_command = command;
        }
        QCOMPARE(config, m_config);
        QCOMPARE(command, m_command);
    }

    /// What a field shows is what it takes, and the C form as well.
    void aFieldTakesBothForms_data() { everyLocale(); }
    void aFieldTakesBothForms()
    {
        QFETCH(QString, locale);
        useLocale(locale);
        config::Schema schema;
        schema.addGroup("optim", "Optimiser");
        config::Field field;
        field.key = "optim.lr";
        field.type = config::Type::Float;
        field.defaultValue = 0.06;
        schema.add(field);
        for (const double value : {0.05, 0.0005, 1e-9, 12345.678, 3e-4, 1e10, 0.0, 1.0}) {
            const QString local = experiment::localText(field, value), c = QLocale::c().toString(value, 'g', 12);
            for (const QString &typed : {local, c}) {
                const auto read = experiment::readLocal(schema, field, typed);
                QVERIFY2(read && std::abs(read->get<double>() - value) <= value * 1e-12, qPrintable(typed));
            }
        }
    }

    void theScreenSpeaksIt_data()
    {
        QTest::addColumn<QString>("locale");
        QTest::addColumn<QString>("knn");
        QTest::addColumn<QString>("duration");
        QTest::newRow("C") << "C"
                           << "0.8706"
                           << "1:12:08";
        QTest::newRow("de_DE") << "de_DE"
                               << "0,8706"
                               << "1:12:08";
        QTest::newRow("fr_FR") << "fr_FR"
                               << "0,8706"
                               << "1:12:08";
        QTest::newRow("ar_EG") << "ar_EG" << QStringLiteral("٠٫٨٧٠٦") << QStringLiteral("١:١٢:٠٨");
    }
    void theScreenSpeaksIt()
    {
        QFETCH(QString, locale);
        QFETCH(QString, knn);
        QFETCH(QString, duration);
        useLocale(locale);
        session::RunSummary run;
        run.folder = QStringLiteral("/runs/a");
        run.step = 8612;
        run.bestKnn = 0.87064;
        run.duration = 4328;
        RunTableModel model;
        model.setRuns({run});
        QCOMPARE(model.index(0, RunTableModel::BestKnn).data().toString(), knn);
        QCOMPARE(model.index(0, RunTableModel::Duration).data().toString(), duration);
        QCOMPARE(formatDuration(4328), duration);
        const QString progress = formatOf(3, 12); // the smaller figure stays in front, whatever the digits' direction
        QCOMPARE(progress.contains(QChar(0x200e)), locale == QLatin1String("ar_EG"));
        for (const QString &text :
             {progress, formatRoughly(4328), formatClock(1e9), formatMoment(1e9), formatMegabytes(812)})
            if (locale == QLatin1String("ar_EG"))
                QVERIFY2(!text.contains(QRegularExpression(QStringLiteral("[0-9]"))), qPrintable(text));
    }

    /// Numbers are read from events and written into the plot in C form.
    void curvesAndPlotStayTheSame_data() { everyLocale(); }
    void curvesAndPlotStayTheSame()
    {
        QFETCH(QString, locale);
        useLocale(locale);
        QTemporaryDir dir;
        test::SyntheticWriter writer(session::toPath(dir.path()), {});
        const auto data = session::readRun(writer.folder());
        const auto loss = lineOf(data, "loss", XMode::Step);
        QVERIFY(loss);
        QCOMPARE(loss->y.size(), std::size_t(200));
        const std::string svg = session::plotSvg(data, "run");
        if (m_plot.empty()) {
            m_plot = svg;
            m_curve = loss->y;
        }
        QVERIFY(loss->y == m_curve);
        QCOMPARE(svg, m_plot);
    }

    /// What the Monitor's charts save: drawings and tables have the same bytes, while the screen speaks the locale.
    void savedChartsStayTheSame_data() { everyLocale(); }
    void savedChartsStayTheSame()
    {
        QFETCH(QString, locale);
        useLocale(locale);
        QTemporaryDir dir;
        test::SyntheticWriter writer(session::toPath(dir.path()), {});
        writer.event(0, "metrics", 201, {{"loss", "NaN"}});
        const auto data = std::make_shared<session::RunData>(session::readRun(writer.folder()));
        ChartGrid grid;
        grid.setShown(shownAtFirst());
        grid.resize(1200, 600);
        grid.setVisible(true);
        grid.show(data, session::summarize(writer.folder()));
        const auto bytes = [&](const QString &file) { return contents(dir.filePath(file)); };
        for (const QString &chart : QStringList{"loss", "knn"}) {
            for (const QString &ending : QStringList{".svg", ".png", ".pdf"})
                QVERIFY(grid.savePicture(chart, dir.filePath(chart + ending)));
            QVERIFY(grid.savePoints(chart, dir.filePath(chart + ".csv"), false));
            QVERIFY(bytes(chart + ".png").startsWith("\x89PNG") && bytes(chart + ".pdf").startsWith("%PDF"));
            for (const QString &ending : QStringList{".svg", ".csv"}) {
                const QByteArray now = bytes(chart + ending);
                QVERIFY(now.size() > 500 || chart == "knn");
                QByteArray &first = m_saved[chart + ending];
                if (first.isEmpty()) first = now;
                QCOMPARE(now, first);
            }
        }
        QVERIFY(bytes("loss.csv").startsWith("series,step,value\r\n\"train\",1,"));
        QVERIFY(bytes("loss.csv").endsWith("\"train\",201,nan\r\n"));
        QCOMPARE(bytes("loss.csv").count('\n'), 202);
        grid.group()->setFollowing(false);
        for (ChartCard *card : grid.cards()) card->chart()->setXRange(10, 19);
        QVERIFY(grid.savePoints("loss", dir.filePath("part.csv"), true));
        QCOMPARE(bytes("part.csv").count('\n'), 11);
        QVERIFY(!grid.savePicture("loss", dir.filePath("loss.bmp")));
        QVERIFY(!grid.savePicture("loss", dir.filePath("no/such/folder/loss.svg")));
        QCOMPARE(QLocale().name(), QLocale(locale).name()); // the screen's own is back
    }

private:
    static void fakeCli(const QString &file, const QByteArray &script)
    {
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write("#!/bin/sh\n" + script);
        out.close();
        QVERIFY(out.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        qputenv("PARALLAX_CLI", file.toUtf8());
    }
    static void type(const NewRunScreen &screen, const char *key, const QString &text)
    {
        auto *line = qobject_cast<QLineEdit *>(screen.form()->row(QLatin1String(key))->editor()->input());
        QVERIFY2(line, key);
        line->setFocus();
        line->selectAll();
        line->insert(text);
        Q_EMIT line->textEdited(text); // digits that no key of the test's keyboard has
    }

    QTemporaryDir m_cache;
    QByteArray m_config;
    QString m_command;
    std::map<QString, QByteArray> m_saved;
    std::string m_plot;
    std::vector<double> m_curve;
};

QTEST_MAIN(TestLocale)
#include "tst_locale.moc"
