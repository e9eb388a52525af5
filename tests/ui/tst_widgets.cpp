// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/page.h"

#include <QDateTime>
#include <QImage>
#include <QLocale>
#include <QPainter>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace parallax;
using namespace parallax::ui;

namespace {

const double notANumber = std::numeric_limits<double>::quiet_NaN();

} // namespace

class TestWidgets : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { Theme::instance().setMode(Theme::Mode::Light, false); }
    void cleanup() { QLocale::setDefault(QLocale::c()); }

    void numbersOnScreen()
    {
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QCOMPARE(formatCount(8612), QStringLiteral("8,612"));
        QCOMPARE(formatFixed(0.87064, 4), QStringLiteral("0.8706"));
        QCOMPARE(formatMetric(2.3094), QStringLiteral("2.309"));
        QCOMPARE(formatMetric(0.07521), QStringLiteral("0.0752"));
        QCOMPARE(formatMetric(3912.3), QStringLiteral("3,912"));
        QCOMPARE(formatMetric(0), QStringLiteral("0"));
        QCOMPARE(formatPercent(0.018, 1), QStringLiteral("1.8 %"));
        QCOMPARE(formatMegabytes(6310), QStringLiteral("6.31 GB"));
        QCOMPARE(formatMegabytes(812), QStringLiteral("812 MB"));
        QCOMPARE(formatRoughly(2400), QStringLiteral("40 min"));
        QCOMPARE(formatRoughly(12), QStringLiteral("12 s"));
        for (const QString &text : {formatCount(notANumber), formatFixed(notANumber, 2), formatMetric(notANumber),
                                    formatDuration(notANumber), formatPercent(notANumber, 1), formatMegabytes(notANumber),
                                    formatRoughly(notANumber), formatMoment(0), formatFixed(INFINITY, 2)})
            QCOMPARE(text, QStringLiteral("–"));
        QLocale::setDefault(QLocale(QLocale::German));
        QCOMPARE(formatFixed(0.5, 2), QStringLiteral("0,50"));
    }

    void digitsOfTheLocaleEverywhere()
    {
        QLocale::setDefault(QLocale(QLocale::Arabic, QLocale::Egypt));
        QCOMPARE(formatFixed(0.5, 2), QStringLiteral("٠٫٥٠"));
        QCOMPARE(formatDuration(4328), QStringLiteral("١:١٢:٠٨"));
        QCOMPARE(formatRoughly(2400), QStringLiteral("٤٠ min"));
        const double noon = double(QDateTime(QDate(2026, 11, 3), QTime(14, 7)).toSecsSinceEpoch());
        QCOMPARE(formatClock(noon), QStringLiteral("١٤:٠٧:٠٠"));
        static const QRegularExpression ascii(QStringLiteral("[0-9]"));
        for (const QString &text : {formatCount(8612), formatMetric(0.07521), formatMetric(1e-9), formatAxis(1500, 500),
                                    formatPercent(0.018, 1), formatMegabytes(6310), formatBytes(4e11), formatMoment(noon)})
            QVERIFY2(!text.contains(ascii), qPrintable(text));
        const QFontMetricsF metrics(textFont(TextRole::Table));
        QCOMPARE(tabularWidth(metrics, QStringLiteral("١٫١١")), tabularWidth(metrics, QStringLiteral("٨٫٨٨")));
    }

    void axisLabels()
    {
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QCOMPARE(formatAxis(2000, 2000), QStringLiteral("2k"));
        QCOMPARE(formatAxis(0, 2000), QStringLiteral("0"));
        QCOMPARE(formatAxis(1500, 500), QStringLiteral("1.5k"));
        QCOMPARE(formatAxis(0.85, 0.03), QStringLiteral("0.85"));
        QCOMPARE(formatAxis(0.025, 0.025), QStringLiteral("0.025"));
        QCOMPARE(formatAxis(40, 20), QStringLiteral("40"));
        QCOMPARE(formatAxis(2.5e6, 5e5), QStringLiteral("2.5M"));
    }

    void digitsStandUnderEachOther()
    {
        const QFontMetricsF metrics(textFont(TextRole::Table));
        QCOMPARE(tabularWidth(metrics, "1.11"), tabularWidth(metrics, "8.88"));
        QImage image(120, 30, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        painter.setFont(textFont(TextRole::Table));
        drawTabular(&painter, QRectF(10, 0, 100, 30), "88.8", Qt::AlignRight);
        painter.end();
        int left = image.width(), right = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                if (qGray(image.pixel(x, y)) < 128) left = std::min(left, x), right = std::max(right, x);
        QVERIFY2(right >= 104 && right <= 110, qPrintable(QString::number(right)));
        QVERIFY(left > 60);
    }

    void everyStateHasItsOwnIcon()
    {
        QSet<QString> icons;
        for (const auto state : {runs::State::Queued, runs::State::Running, runs::State::Paused, runs::State::Finished,
                                 runs::State::Failed, runs::State::Interrupted})
            icons.insert(stateLook(state).icon);
        QCOMPARE(icons.size(), 6);
    }

    void switchTakesMouseAndKeys()
    {
        Switch knob;
        knob.show();
        QSignalSpy toggled(&knob, &QAbstractButton::toggled);
        QTest::mouseClick(&knob, Qt::LeftButton);
        QVERIFY(knob.isChecked());
        knob.setFocus();
        QTest::keyClick(&knob, Qt::Key_Space);
        QVERIFY(!knob.isChecked());
        QCOMPARE(toggled.count(), 2);
    }

    void segmentsExcludeEachOther()
    {
        SegmentedControl control;
        for (const char *name : {"Step", "Epoch", "Wall"}) control.addSegment(QLatin1String(name));
        QCOMPARE(control.current(), 0);
        control.show();
        QSignalSpy changed(&control, &SegmentedControl::currentChanged);
        QTest::mouseClick(control.segment(2), Qt::LeftButton);
        QCOMPARE(control.current(), 2);
        QVERIFY(!control.segment(0)->isChecked());
        QTest::mouseClick(control.segment(2), Qt::LeftButton); // again: nothing new
        control.setCurrent(2);
        QCOMPARE(changed.count(), 1);
        QCOMPARE(control.segment(0)->property("place").toString(), QStringLiteral("first"));
        QCOMPARE(control.segment(1)->property("place").toString(), QStringLiteral("middle"));
        QCOMPARE(control.segment(2)->property("place").toString(), QStringLiteral("last"));
        control.clear();
        QCOMPARE(control.count(), 0);
        control.addSegment("One");
        QCOMPARE(control.current(), 0);
    }

    void searchFieldClearsOnEscape()
    {
        SearchField field("Search");
        field.show();
        QTest::keyClicks(&field, "abc");
        QCOMPARE(field.text(), QStringLiteral("abc"));
        QTest::keyClick(&field, Qt::Key_Escape);
        QVERIFY(field.text().isEmpty());
    }

    void elidedLabelTellsTheRest()
    {
        ElidedLabel label;
        label.resize(60, 20);
        label.setFullText(QString(80, QLatin1Char('x')));
        QCOMPARE(label.toolTip().size(), 80);
        label.setFullText("x");
        QVERIFY(label.toolTip().isEmpty());
    }

    void keyFiguresSpeak()
    {
        KeyFigures strip;
        strip.setFigures({{"Loss", "2.309", "", Token::Text}, {"kNN accuracy", "0.8706", "best 0.8722", Token::Text}});
        QCOMPARE(strip.accessibleName(), QStringLiteral("Loss: 2.309, kNN accuracy: 0.8706"));
        strip.resize(600, 56);
        QVERIFY(!strip.grab().isNull());
    }
};

QTEST_MAIN(TestWidgets)
#include "tst_widgets.moc"
