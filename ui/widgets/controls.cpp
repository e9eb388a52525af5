// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/controls.h"

#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QStyle>
#include <QToolButton>

#include <algorithm>

namespace parallax::ui {

QPushButton *makeButton(const QString &text, const QString &iconName, ButtonKind kind, bool compact, QWidget *parent)
{
    auto *button = new QPushButton(text, parent);
    constexpr const char *roles[] = {"", "primary", "danger", "quiet"};
    constexpr Token inks[] = {Token::Text, Token::OnAccent, Token::Error, Token::TextSecondary};
    button->setProperty("role", QLatin1String(roles[int(kind)]));
    button->setProperty("compact", compact);
    button->setFont(textFont(compact ? TextRole::State : TextRole::Button));
    if (!iconName.isEmpty()) button->setIcon(icon(iconName, inks[int(kind)], kind == ButtonKind::Quiet));
    // A wider icon keeps its glyph at the left: that is the space between it and the text.
    const int side = compact ? 14 : 16, space = text.isEmpty() ? 0 : 4;
    button->setIconSize({side + space, side});
    return button;
}

QToolButton *makeIconButton(const QString &iconName, const QString &name, QWidget *parent)
{
    auto *button = new QToolButton(parent);
    button->setIcon(icon(iconName, Token::TextSecondary, true));
    button->setIconSize({16, 16});
    button->setToolTip(name);
    button->setAccessibleName(name);
    return button;
}

QLabel *makeLabel(const QString &text, TextRole role, const char *tone, QWidget *parent)
{
    auto *label = new QLabel(text, parent);
    label->setFont(textFont(role));
    label->setTextFormat(Qt::PlainText);
    label->setProperty("tone", QLatin1String(tone));
    return label;
}

IconLabel::IconLabel(QString iconName, Token ink, int size, QWidget *parent)
    : QWidget(parent), m_icon(std::move(iconName)), m_ink(ink), m_size(size)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void IconLabel::set(const QString &iconName, Token ink)
{
    m_icon = iconName;
    m_ink = ink;
    update();
}

void IconLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    if (!m_icon.isEmpty()) drawIcon(&painter, QRectF(rect()), m_icon, m_size, color(m_ink));
}

QFrame *makeLine(Qt::Orientation orientation, QWidget *parent)
{
    auto *line = new QFrame(parent);
    line->setProperty("role", orientation == Qt::Horizontal ? QStringLiteral("hline") : QStringLiteral("vline"));
    if (orientation == Qt::Horizontal)
        line->setFixedHeight(1);
    else
        line->setFixedWidth(1);
    return line;
}

Switch::Switch(QWidget *parent) : QAbstractButton(parent)
{
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setCursor(Qt::PointingHandCursor);
    m_knob.setEasingCurve(QEasingCurve::OutCubic);
    connect(&m_knob, &QVariantAnimation::valueChanged, this, [this](const QVariant &value) {
        m_position = value.toDouble();
        update();
    });
    connect(this, &QAbstractButton::toggled, this, [this](bool on) {
        const bool animate = isVisible() && style()->styleHint(QStyle::SH_Widget_Animation_Duration, nullptr, this) > 0;
        m_knob.stop();
        m_knob.setDuration(animate ? 120 : 0);
        m_knob.setStartValue(m_position);
        m_knob.setEndValue(on ? 1.0 : 0.0);
        if (animate)
            m_knob.start();
        else
            m_position = on ? 1 : 0;
        update();
    });
}

void Switch::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF track((width() - 32) / 2.0, (height() - 18) / 2.0, 32, 18);
    if (hasFocus()) {
        painter.setPen(QPen(color(Token::AccentLine), 1));
        painter.drawRoundedRect(track.adjusted(-1.5, -1.5, 1.5, 1.5), 10.5, 10.5);
    }
    const Token fill = !isEnabled() ? Token::LineStrong : isChecked() ? Token::Accent : Token::InputLine;
    painter.setPen(Qt::NoPen);
    painter.setBrush(color(fill));
    painter.drawRoundedRect(track, 9, 9);
    painter.setBrush(color(Token::OnAccent));
    painter.drawEllipse(QPointF(track.left() + 9 + 14 * m_position, track.center().y()), 7, 7);
}

SegmentedControl::SegmentedControl(QWidget *parent) : QWidget(parent), m_layout(new QHBoxLayout(this))
{
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(0);
    m_group.setExclusive(true);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(&m_group, &QButtonGroup::idToggled, this, [this](int id, bool on) {
        if (!on || id == m_current) return;
        m_current = id;
        Q_EMIT currentChanged(id);
    });
}

void SegmentedControl::addSegment(const QString &text, const QString &toolTip)
{
    auto *button = new QToolButton(this);
    button->setText(text);
    button->setToolTip(toolTip);
    button->setCheckable(true);
    button->setProperty("role", QStringLiteral("seg"));
    button->setFont(textFont(TextRole::State));
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    m_group.addButton(button, count());
    m_layout->addWidget(button);
    place();
    if (m_current < 0) {
        m_current = 0;
        button->setChecked(true);
    }
}

void SegmentedControl::clear()
{
    const QList<QAbstractButton *> buttons = m_group.buttons();
    for (QAbstractButton *button : buttons) {
        m_group.removeButton(button);
        m_layout->removeWidget(button);
        delete button;
    }
    m_current = -1;
}

int SegmentedControl::count() const { return int(m_group.buttons().size()); }

void SegmentedControl::setCurrent(int index)
{
    if (QAbstractButton *button = m_group.button(index)) button->setChecked(true);
}

void SegmentedControl::place()
{
    const int last = count() - 1;
    for (int i = 0; i <= last; ++i)
        setStyleProperty(m_group.button(i), "place",
                         last == 0       ? QStringLiteral("only")
                             : i == 0    ? QStringLiteral("first")
                             : i == last ? QStringLiteral("last")
                                         : QStringLiteral("middle"));
}

SearchField::SearchField(const QString &placeholder, bool compact, QWidget *parent) : QLineEdit(parent)
{
    setPlaceholderText(placeholder);
    setAccessibleName(placeholder);
    setProperty("compact", compact);
    setFont(textFont(compact ? TextRole::Table : TextRole::Body));
    addAction(new QAction(icon(QStringLiteral("search")), QString(), this), QLineEdit::LeadingPosition);
    auto *clearText = new QAction(icon(QStringLiteral("close")), tr("Clear"), this);
    addAction(clearText, QLineEdit::TrailingPosition);
    clearText->setVisible(false);
    connect(clearText, &QAction::triggered, this, &QLineEdit::clear);
    connect(this, &QLineEdit::textChanged, clearText,
            [clearText](const QString &text) { clearText->setVisible(!text.isEmpty()); });
}

void SearchField::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape && !text().isEmpty()) {
        clear();
        return;
    }
    QLineEdit::keyPressEvent(event);
}

ElidedLabel::ElidedLabel(TextRole role, Qt::TextElideMode mode, QWidget *parent) : QLabel(parent), m_mode(mode)
{
    setFont(textFont(role));
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void ElidedLabel::setFullText(const QString &text)
{
    m_full = text;
    setAccessibleName(text);
    updateGeometry();
    setToolTip(fontMetrics().horizontalAdvance(text) > width() ? text : QString());
    update();
}

QSize ElidedLabel::minimumSizeHint() const { return {20, fontMetrics().height()}; }

QSize ElidedLabel::sizeHint() const { return {fontMetrics().horizontalAdvance(m_full) + 2, fontMetrics().height()}; }

void ElidedLabel::resizeEvent(QResizeEvent *event)
{
    QLabel::resizeEvent(event);
    setToolTip(fontMetrics().horizontalAdvance(m_full) > width() ? m_full : QString());
}

void ElidedLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    painter.drawText(rect(), int(alignment() | Qt::AlignVCenter | Qt::TextSingleLine),
                     fontMetrics().elidedText(m_full, m_mode, width()));
}

Pill::Pill(QWidget *parent) : QWidget(parent)
{
    setFont(textFont(TextRole::State));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Pill::set(const QString &iconName, const QString &text, Token ink, Token fill)
{
    m_icon = iconName;
    m_text = text;
    m_ink = ink;
    m_fill = fill;
    setAccessibleName(text);
    updateGeometry();
    update();
}

QSize Pill::sizeHint() const
{
    return {fontMetrics().horizontalAdvance(m_text) + (m_icon.isEmpty() ? 16 : 38), fontMetrics().height() + 8};
}

void Pill::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color(m_fill));
    const double radius = std::min(12.0, height() / 2.0);
    painter.drawRoundedRect(QRectF(rect()), radius, radius);
    QRectF inner = QRectF(rect()).adjusted(8, 0, -8, 0);
    if (!m_icon.isEmpty()) {
        drawIcon(&painter, QRectF(inner.left(), 0, 16, height()), m_icon, 14, color(m_ink));
        inner.setLeft(inner.left() + 21);
    }
    painter.setPen(color(m_ink));
    painter.drawText(inner, Qt::AlignVCenter | Qt::AlignLeft, m_text);
}

Swatch::Swatch(int series, QWidget *parent) : QWidget(parent), m_series(series)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Swatch::setSeries(int series)
{
    m_series = series;
    update();
}

void Swatch::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::instance().series(m_series));
    painter.drawRoundedRect(QRectF((width() - 10) / 2.0, (height() - 10) / 2.0, 10, 10), 3, 3);
}

} // namespace parallax::ui
