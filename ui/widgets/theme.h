// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QString>

#include <array>
#include <map>
#include <vector>

class QApplication;

namespace parallax::ui {

/// The named colours of a theme file; the names in the file are those of tokenName().
enum class Token {
    Chrome,
    Canvas,
    Panel,
    Raised,
    Sunken,
    Hover,
    Selection,
    SelectionLine,
    Line,
    LineStrong,
    Control,
    ControlLine,
    InputLine,
    Text,
    TextSecondary,
    TextMuted,
    TextDisabled,
    Accent,
    AccentHover,
    AccentText,
    AccentLine,
    OnAccent,
    AccentSoft,
    Ok,
    OkSoft,
    Warn,
    WarnSoft,
    WarnLine,
    Error,
    ErrorSoft,
    ErrorLine,
    Interrupted,
    InterruptedSoft,
    Neutral,
    NeutralSoft,
    ChartGrid,
    ChartAxis,
    ChartCursor,
    ScrollHandle,
    Code,
    Count
};
/// "textMuted" for Token::TextMuted.
QString tokenName(Token token);

/// Roles of text; sizes follow the system's font size.
enum class TextRole {
    PageTitle,
    RunTitle,
    Section,
    CardTitle,
    Body,
    Button,
    Table,
    State,
    Caption,
    Chip,
    KeyFigure,
    Hero,
    Mono
};

/// One theme file, read and checked.
struct ThemeColors {
    std::array<QColor, std::size_t(Token::Count)> colors;
    std::vector<QColor> series;
    double rawTraceOpacity = 0.3;
    /// Reads ":/themes/theme-<name>.json". A missing or broken file is our own bug: it asserts.
    static ThemeColors load(const QString &name);
    QColor operator[](Token token) const { return colors[std::size_t(token)]; }
};

/// The look of the whole program: palette, style sheet and fonts, switched at run time.
class Theme : public QObject
{
    Q_OBJECT
public:
    enum class Mode { System, Light, Dark };

    /// The one theme; made by the first call, which needs a QApplication, and installed on it.
    static Theme &instance();

    bool isDark() const { return m_dark; }
    Mode mode() const { return m_mode; }
    /// Follow the system or override it; kept in QSettings unless `remember` is false.
    void setMode(Mode mode, bool remember = true);

    QColor color(Token token) const { return m_colors[token]; }
    /// Categorical colour of a run, rank or class; any index, the palette repeats after 10.
    QColor series(int index) const;
    double rawTraceOpacity() const { return m_colors.rawTraceOpacity; }

    QFont font(TextRole role) const;
    /// A measure in device-independent pixels of the design, scaled as text is.
    int scaled(int pixels) const { return qRound(pixels * m_scale); }

Q_SIGNALS:
    /// Palette and style sheet are already set. Whatever paints with own colours updates.
    void changed();

private Q_SLOTS:
    /// D-Bus: the desktop portal's settings changed.
    void portalSettingChanged(const QString &space, const QString &key);

private:
    explicit Theme(QApplication *app);
    bool systemIsDark() const;
    void apply();
    QString filledStyleSheet() const;

    QApplication *m_app;
    Mode m_mode = Mode::System;
    bool m_dark = false, m_paletteWasDark = false;
    double m_scale = 1;
    QString m_family;
    ThemeColors m_colors;
};

/// Shorthands for painting code.
inline QColor color(Token token) { return Theme::instance().color(token); }
inline QFont textFont(TextRole role) { return Theme::instance().font(role); }
QColor withAlpha(QColor color, double alpha);

} // namespace parallax::ui
