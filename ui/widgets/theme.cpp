// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/theme.h"

#include "ui/widgets/parallaxstyle.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QFile>
#include <QFontDatabase>
#include <QFontInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPalette>
#include <QPixmapCache>
#include <QPointer>
#include <QRegularExpression>
#include <QSettings>

#include <algorithm>

namespace parallax::ui {
namespace {

constexpr std::array<const char *, std::size_t(Token::Count)> names = {
    "chrome",     "canvas",       "panel",           "raised",       "sunken",
    "hover",      "selection",    "selectionLine",   "line",         "lineStrong",
    "control",    "controlLine",  "inputLine",       "text",         "textSecondary",
    "textMuted",  "textDisabled", "accent",          "accentHover",  "accentText",
    "accentLine", "onAccent",     "accentSoft",      "ok",           "okSoft",
    "warn",       "warnSoft",     "warnLine",        "error",        "errorSoft",
    "errorLine",  "interrupted",  "interruptedSoft", "neutral",      "neutralSoft",
    "chartGrid",  "chartAxis",    "chartCursor",     "scrollHandle", "code"};

const QString portal = QStringLiteral("org.freedesktop.portal.Desktop");
const QString portalPath = QStringLiteral("/org/freedesktop/portal/desktop");
const QString portalSettings = QStringLiteral("org.freedesktop.portal.Settings");
const QString appearance = QStringLiteral("org.freedesktop.appearance");
const QString colorScheme = QStringLiteral("color-scheme");

/// 0 no preference, 1 dark, 2 light; -1 where no portal answers.
int portalColorScheme()
{
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected()) return -1;
    QDBusMessage call = QDBusMessage::createMethodCall(portal, portalPath, portalSettings, QStringLiteral("Read"));
    call << appearance << colorScheme;
    const QDBusMessage answer = bus.call(call, QDBus::Block, 200);
    if (answer.type() != QDBusMessage::ReplyMessage || answer.arguments().isEmpty()) return -1;
    // The portal wraps the value twice in a variant.
    QVariant value = answer.arguments().constFirst();
    while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
    return value.toInt();
}

struct FontSpec {
    int pixels;
    int weight;
};

FontSpec spec(TextRole role)
{
    switch (role) {
    case TextRole::PageTitle: return {18, QFont::DemiBold};
    case TextRole::RunTitle: return {16, QFont::DemiBold};
    case TextRole::Section: return {14, QFont::DemiBold};
    case TextRole::CardTitle: return {12, QFont::DemiBold};
    case TextRole::Body: return {13, QFont::Normal};
    case TextRole::Button: return {13, QFont::Medium};
    case TextRole::Table: return {12, QFont::Normal};
    case TextRole::State: return {12, QFont::Medium};
    case TextRole::Caption: return {11, QFont::Normal};
    case TextRole::Chip: return {11, QFont::Medium};
    case TextRole::KeyFigure: return {18, QFont::DemiBold};
    case TextRole::Hero: return {26, QFont::DemiBold};
    case TextRole::Mono: return {12, QFont::Normal};
    }
    return {13, QFont::Normal};
}

} // namespace

QString tokenName(Token token) { return QString::fromLatin1(names[std::size_t(token)]); }

ThemeColors ThemeColors::load(const QString &name)
{
    QFile file(QStringLiteral(":/themes/theme-%1.json").arg(name));
    const bool opened = file.open(QIODevice::ReadOnly);
    Q_ASSERT(opened);
    const QJsonObject root = opened ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
    const QJsonObject colors = root.value(QLatin1String("colors")).toObject();
    ThemeColors result;
    for (std::size_t i = 0; i < names.size(); ++i) {
        result.colors[i] = QColor(colors.value(QLatin1String(names[i])).toString());
        Q_ASSERT(result.colors[i].isValid());
    }
    for (const QJsonValue &value : root.value(QLatin1String("series")).toArray())
        result.series.emplace_back(value.toString());
    Q_ASSERT(!result.series.empty());
    result.rawTraceOpacity = root.value(QLatin1String("rawTraceOpacity")).toDouble(0.3);
    return result;
}

Theme &Theme::instance()
{
    // Owned by the application, so that it goes before Qt's own globals do.
    static QPointer<Theme> theme;
    if (!theme) {
        auto *app = qobject_cast<QApplication *>(QCoreApplication::instance());
        Q_ASSERT(app);
        theme = new Theme(app);
    }
    return *theme;
}

Theme::Theme(QApplication *app) : QObject(app), m_app(app)
{
    m_paletteWasDark = app->palette().color(QPalette::Window).lightness() < 128;
    const QFont system = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
    // The measures are made for 13 px; smaller would bring captions below what can be read.
    m_scale = std::clamp(QFontInfo(system).pixelSize() / 13.0, 1.0, 2.0);
    m_family = QFontDatabase::hasFamily(QStringLiteral("Inter")) ? QStringLiteral("Inter") : system.family();
    app->setStyle(new ParallaxStyle);
    QDBusConnection::sessionBus().connect(QString(), portalPath, portalSettings, QStringLiteral("SettingChanged"), this,
                                          SLOT(portalSettingChanged(QString, QString)));
    const QString stored = QSettings().value(QStringLiteral("theme")).toString();
    m_mode = stored == QLatin1String("light") ? Mode::Light : stored == QLatin1String("dark") ? Mode::Dark : Mode::System;
    apply();
}

bool Theme::systemIsDark() const
{
    const int scheme = portalColorScheme();
    return scheme > 0 ? scheme == 1 : m_paletteWasDark;
}

void Theme::portalSettingChanged(const QString &space, const QString &key)
{
    if (m_mode == Mode::System && space == appearance && key == colorScheme) apply();
}

void Theme::setMode(Mode mode, bool remember)
{
    if (remember)
        QSettings().setValue(QStringLiteral("theme"),
                             mode == Mode::Light      ? QStringLiteral("light")
                                 : mode == Mode::Dark ? QStringLiteral("dark")
                                                      : QStringLiteral("system"));
    m_mode = mode;
    apply();
}

void Theme::apply()
{
    m_dark = m_mode == Mode::System ? systemIsDark() : m_mode == Mode::Dark;
    m_colors = ThemeColors::load(m_dark ? QStringLiteral("dark") : QStringLiteral("light"));
    QPalette palette;
    const std::pair<QPalette::ColorRole, Token> roles[] = {{QPalette::Window, Token::Canvas},
                                                           {QPalette::Base, Token::Panel},
                                                           {QPalette::AlternateBase, Token::Sunken},
                                                           {QPalette::Button, Token::Control},
                                                           {QPalette::Text, Token::Text},
                                                           {QPalette::WindowText, Token::Text},
                                                           {QPalette::ButtonText, Token::Text},
                                                           {QPalette::BrightText, Token::OnAccent},
                                                           {QPalette::PlaceholderText, Token::TextMuted},
                                                           {QPalette::Highlight, Token::AccentSoft},
                                                           {QPalette::HighlightedText, Token::Text},
                                                           {QPalette::Link, Token::AccentText},
                                                           {QPalette::LinkVisited, Token::AccentText},
                                                           {QPalette::ToolTipBase, Token::Raised},
                                                           {QPalette::ToolTipText, Token::Text},
                                                           {QPalette::Light, Token::Panel},
                                                           {QPalette::Midlight, Token::Line},
                                                           {QPalette::Mid, Token::Line},
                                                           {QPalette::Dark, Token::LineStrong},
                                                           {QPalette::Shadow, Token::LineStrong}};
    for (const auto &[role, token] : roles) palette.setColor(role, color(token));
    for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText, QPalette::HighlightedText})
        palette.setColor(QPalette::Disabled, role, color(Token::TextDisabled));
    QPixmapCache::clear();
    m_app->setFont(font(TextRole::Body));
    m_app->setPalette(palette);
    m_app->setStyleSheet(filledStyleSheet());
    Q_EMIT changed();
}

QString Theme::filledStyleSheet() const
{
    QFile file(QStringLiteral(":/parallax.qss"));
    const bool opened = file.open(QIODevice::ReadOnly);
    Q_ASSERT(opened);
    const QString source = opened ? QString::fromUtf8(file.readAll()) : QString();
    QString sheet;
    sheet.reserve(source.size());
    static const QRegularExpression place(QStringLiteral("\\{([a-zA-Z]+|px:\\d+)\\}"));
    qsizetype from = 0;
    for (auto it = place.globalMatch(source); it.hasNext();) {
        const QRegularExpressionMatch match = it.next();
        const QString word = match.captured(1);
        sheet += QStringView(source).mid(from, match.capturedStart() - from);
        from = match.capturedEnd();
        if (word.startsWith(QLatin1String("px:"))) {
            sheet += QString::number(scaled(word.mid(3).toInt())) + QLatin1String("px");
            continue;
        }
        if (word == QLatin1String("theme")) {
            sheet += m_dark ? QLatin1String("dark") : QLatin1String("light");
            continue;
        }
        const auto found = std::find(names.begin(), names.end(), word.toStdString());
        Q_ASSERT(found != names.end());
        sheet += m_colors[Token(found - names.begin())].name();
    }
    return sheet + source.mid(from);
}

QColor Theme::series(int index) const
{
    const int count = int(m_colors.series.size());
    return m_colors.series[std::size_t(((index % count) + count) % count)];
}

QFont Theme::font(TextRole role) const
{
    const FontSpec what = spec(role);
    QFont result = role == TextRole::Mono ? QFontDatabase::systemFont(QFontDatabase::FixedFont) : QFont(m_family);
    result.setPixelSize(scaled(what.pixels));
    result.setWeight(QFont::Weight(what.weight));
    return result;
}

QColor withAlpha(QColor color, double alpha)
{
    color.setAlphaF(float(color.alphaF() * alpha));
    return color;
}

} // namespace parallax::ui
