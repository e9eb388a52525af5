// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/theme.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVariantAnimation>

class QHBoxLayout;
class QToolButton;

namespace parallax::ui {

enum class ButtonKind { Plain, Primary, Danger, Quiet };
/// A push button of the design; compact: 28 px high, for strips.
QPushButton *makeButton(const QString &text, const QString &iconName = QString(), ButtonKind kind = ButtonKind::Plain,
                        bool compact = false, QWidget *parent = nullptr);
/// An icon alone; `name` is its tooltip and accessible name.
QToolButton *makeIconButton(const QString &iconName, const QString &name, QWidget *parent = nullptr);
/// A label of a text role; tone: "", "secondary", "muted", "ok", "warn", "error", "accent".
QLabel *makeLabel(const QString &text, TextRole role = TextRole::Body, const char *tone = "", QWidget *parent = nullptr);
/// An icon beside a text; follows the theme.
class IconLabel : public QWidget
{
    Q_OBJECT
public:
    explicit IconLabel(QString iconName = {}, Token ink = Token::TextSecondary, int size = 16, QWidget *parent = nullptr);
    void set(const QString &iconName, Token ink);
    QSize sizeHint() const override { return {m_size, m_size}; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QString m_icon;
    Token m_ink;
    int m_size;
};

/// 1-px hairline.
QFrame *makeLine(Qt::Orientation orientation, QWidget *parent = nullptr);

/// On/off, 32 × 18; the knob travels 120 ms unless the style says no animation.
class Switch : public QAbstractButton
{
    Q_OBJECT
public:
    explicit Switch(QWidget *parent = nullptr);
    QSize sizeHint() const override { return {36, 22}; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QVariantAnimation m_knob;
    double m_position = 0; ///< 0 off, 1 on
};

/// Choices side by side, one of them chosen.
class SegmentedControl : public QWidget
{
    Q_OBJECT
public:
    explicit SegmentedControl(QWidget *parent = nullptr);
    void addSegment(const QString &text, const QString &toolTip = QString());
    void clear();
    int count() const;
    int current() const { return m_group.checkedId(); }
    /// Emits currentChanged only when another was chosen before.
    void setCurrent(int index);
    QAbstractButton *segment(int index) const { return m_group.button(index); }

Q_SIGNALS:
    void currentChanged(int index);

private:
    void place();
    QButtonGroup m_group;
    QHBoxLayout *m_layout;
    int m_current = -1;
};

/// A field with a magnifying glass, a clear button and Escape to clear.
class SearchField : public QLineEdit
{
    Q_OBJECT
public:
    explicit SearchField(const QString &placeholder, bool compact = false, QWidget *parent = nullptr);

protected:
    void keyPressEvent(QKeyEvent *event) override;
};

/// One line that ends in "…" where it has no room; the whole text is its tooltip then.
class ElidedLabel : public QLabel
{
    Q_OBJECT
public:
    explicit ElidedLabel(TextRole role = TextRole::Body, Qt::TextElideMode mode = Qt::ElideRight, QWidget *parent = nullptr);
    void setFullText(const QString &text);
    QString fullText() const { return m_full; }
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    QString m_full;
    Qt::TextElideMode m_mode;
};

/// A rounded pill with an icon: a run's state, a count.
class Pill : public QWidget
{
    Q_OBJECT
public:
    explicit Pill(QWidget *parent = nullptr);
    void set(const QString &iconName, const QString &text, Token ink, Token fill);
    QString text() const { return m_text; }
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QString m_icon, m_text;
    Token m_ink = Token::TextSecondary, m_fill = Token::NeutralSoft;
};

/// A small square or line sample in a categorical colour, beside a text.
class Swatch : public QWidget
{
    Q_OBJECT
public:
    explicit Swatch(int series, QWidget *parent = nullptr);
    void setSeries(int series);
    QSize sizeHint() const override { return {10, 10}; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    int m_series;
};

} // namespace parallax::ui
