// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QImage>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPalette>
#include <QRegularExpression>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

#include <cmath>

using namespace parallax::ui;

namespace {

/// Contrast of WCAG 2: 1 to 21.
double luminance(const QColor &color)
{
    const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

double contrast(const QColor &a, const QColor &b)
{
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

} // namespace

class TestTheme : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("parallax-test-theme"));
        QSettings().clear();
    }
    void cleanup() { Theme::instance().setMode(Theme::Mode::Light, false); }

    void contrastItselfIsRight()
    {
        QCOMPARE(std::round(contrast(Qt::black, Qt::white)), 21.0);
        QCOMPARE(std::round(contrast(QColor(0x77, 0x77, 0x77), Qt::white) * 100), 448.0);
    }

    void everyTokenIsInBothThemes_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("light") << "light";
        QTest::newRow("dark") << "dark";
    }
    void everyTokenIsInBothThemes()
    {
        QFETCH(QString, name);
        QFile file(QStringLiteral(":/themes/theme-%1.json").arg(name));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject colors = QJsonDocument::fromJson(file.readAll()).object().value("colors").toObject();
        QCOMPARE(int(colors.size()), int(Token::Count));
        for (int i = 0; i < int(Token::Count); ++i) {
            QVERIFY2(colors.contains(tokenName(Token(i))), qPrintable(tokenName(Token(i))));
            QVERIFY(QColor(colors.value(tokenName(Token(i))).toString()).isValid());
        }
        QCOMPARE(int(ThemeColors::load(name).series.size()), 10);
    }

    void textAndLinesStandOut_data() { everyTokenIsInBothThemes_data(); }
    void textAndLinesStandOut()
    {
        QFETCH(QString, name);
        const ThemeColors theme = ThemeColors::load(name);
        const auto standsOut = [&](double wanted, const QColor &ink, const QColor &ground, const QString &what) {
            const double got = contrast(ink, ground);
            QVERIFY2(got >= wanted, qPrintable(QStringLiteral("%1: %2").arg(what).arg(got)));
        };
        for (const Token ink : {Token::Text, Token::TextSecondary, Token::TextMuted})
            for (const Token ground : {Token::Chrome, Token::Canvas, Token::Panel, Token::Raised, Token::Sunken})
                standsOut(4.5, theme[ink], theme[ground], tokenName(ink) + " on " + tokenName(ground));
        const std::pair<Token, Token> texts[] = {{Token::OnAccent, Token::Accent},
                                                 {Token::OnAccent, Token::AccentHover},
                                                 {Token::AccentText, Token::Panel},
                                                 {Token::AccentText, Token::Selection},
                                                 {Token::Text, Token::Selection},
                                                 {Token::Text, Token::Hover},
                                                 {Token::Ok, Token::Panel},
                                                 {Token::Ok, Token::OkSoft},
                                                 {Token::Warn, Token::WarnSoft},
                                                 {Token::Warn, Token::Panel},
                                                 {Token::Error, Token::Panel},
                                                 {Token::Error, Token::ErrorSoft},
                                                 {Token::Interrupted, Token::Panel},
                                                 {Token::Interrupted, Token::InterruptedSoft},
                                                 {Token::Neutral, Token::NeutralSoft},
                                                 {Token::Text, Token::Code},
                                                 {Token::Text, Token::ErrorSoft}};
        for (const auto &[ink, ground] : texts)
            standsOut(4.5, theme[ink], theme[ground], tokenName(ink) + " on " + tokenName(ground));
        const std::pair<Token, Token> lines[] = {{Token::InputLine, Token::Panel},
                                                 {Token::InputLine, Token::Control},
                                                 {Token::AccentLine, Token::Panel},
                                                 {Token::ChartCursor, Token::Panel}};
        for (const auto &[ink, ground] : lines)
            standsOut(3, theme[ink], theme[ground], tokenName(ink) + " on " + tokenName(ground));
        for (std::size_t i = 0; i < theme.series.size(); ++i)
            standsOut(3, theme.series[i], theme[Token::Panel], QStringLiteral("series %1").arg(i + 1));
    }

    void styleSheetIsFilled()
    {
        Theme::instance();
        static const QRegularExpression left(QStringLiteral("\\{(px:\\d+|[a-zA-Z]+)\\}"));
        QVERIFY(qApp->styleSheet().size() > 1000);
        const auto match = left.match(qApp->styleSheet());
        QVERIFY2(!match.hasMatch(), qPrintable(match.captured()));
    }

    void switchingChangesPaletteSheetAndTellsOnce()
    {
        Theme &theme = Theme::instance();
        theme.setMode(Theme::Mode::Light, false);
        const QString light = qApp->styleSheet();
        QSignalSpy changed(&theme, &Theme::changed);
        theme.setMode(Theme::Mode::Dark, false);
        QCOMPARE(changed.count(), 1);
        QVERIFY(theme.isDark());
        QVERIFY(qApp->styleSheet() != light);
        QCOMPARE(qApp->palette().color(QPalette::Base), theme.color(Token::Panel));
        QCOMPARE(qApp->palette().color(QPalette::Disabled, QPalette::Text), theme.color(Token::TextDisabled));
        QVERIFY(theme.color(Token::Panel).lightness() < 128);
    }

    void choiceIsRemembered()
    {
        Theme::instance().setMode(Theme::Mode::Dark);
        QCOMPARE(QSettings().value("theme").toString(), QStringLiteral("dark"));
        Theme::instance().setMode(Theme::Mode::System);
        QCOMPARE(QSettings().value("theme").toString(), QStringLiteral("system"));
    }

    void paletteOfSeriesRepeats()
    {
        Theme &theme = Theme::instance();
        QCOMPARE(theme.series(0), theme.series(10));
        QCOMPARE(theme.series(-1), theme.series(9));
        QVERIFY(theme.series(0) != theme.series(1));
    }

    void fontsKeepTheirOrder()
    {
        Theme &theme = Theme::instance();
        QVERIFY(theme.font(TextRole::Hero).pixelSize() > theme.font(TextRole::PageTitle).pixelSize());
        QVERIFY(theme.font(TextRole::Body).pixelSize() > theme.font(TextRole::Caption).pixelSize());
        QVERIFY(theme.font(TextRole::Caption).pixelSize() >= 11);
        QCOMPARE(theme.font(TextRole::KeyFigure).weight(), int(QFont::DemiBold));
    }

    void everyIconDrawsInTheColourAskedFor()
    {
        const QStringList files = QDir(QStringLiteral(":/icons")).entryList();
        QVERIFY(files.size() > 40);
        for (const QString &file : files) {
            const QString name = file.chopped(4);
            const QImage image = iconPixmap(name, 32, QColor(10, 200, 30), 1).toImage();
            int inked = 0, foreign = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) {
                    const QColor pixel = image.pixelColor(x, y);
                    if (pixel.alpha() < 200) continue;
                    ++inked;
                    foreign += std::abs(pixel.green() - 200) > 12 || pixel.red() > 30;
                }
            QVERIFY2(inked > 4, qPrintable(name));
            // The logo and the arrows of the style sheet have colours of their own.
            if (name != "parallax" && !name.startsWith("arrow-")) QVERIFY2(foreign == 0, qPrintable(name));
        }
    }

    void iconFollowsModeAndTheme()
    {
        const QIcon lit = icon(QStringLiteral("runs"), Token::TextSecondary, true);
        const auto ink = [&](QIcon::Mode mode, QIcon::State state) {
            const QImage image = lit.pixmap(QSize(32, 32), mode, state).toImage();
            return image.pixelColor(5, 8); // the first dot of the list
        };
        QCOMPARE(ink(QIcon::Normal, QIcon::Off).rgb(), color(Token::TextSecondary).rgb());
        QCOMPARE(ink(QIcon::Normal, QIcon::On).rgb(), color(Token::AccentText).rgb());
        QCOMPARE(ink(QIcon::Disabled, QIcon::Off).rgb(), color(Token::TextDisabled).rgb());
        Theme::instance().setMode(Theme::Mode::Dark, false);
        QCOMPARE(ink(QIcon::Normal, QIcon::Off).rgb(), color(Token::TextSecondary).rgb());
    }
};

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
