// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/railbar.h"

#include "ui/widgets/icons.h"

#include <QKeyEvent>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace parallax::ui {

RailButton::RailButton(const QString &iconName, const QString &label, QWidget *parent)
    : QAbstractButton(parent), m_icon(iconName)
{
    setCheckable(true);
    setText(label);
    setAccessibleName(label);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void RailButton::setActive(bool active)
{
    if (active == m_active) return;
    m_active = active;
    update();
}

QSize RailButton::sizeHint() const { return {Theme::instance().scaled(68), Theme::instance().scaled(56)}; }

void RailButton::enterEvent(QEnterEvent *event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void RailButton::leaveEvent(QEvent *event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

void RailButton::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = QRectF(rect());
    if (isChecked() || underMouse()) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(color(isChecked() ? Token::Selection : Token::Hover));
        painter.drawRoundedRect(area, 6, 6);
    }
    if (hasFocus()) {
        painter.setPen(QPen(color(Token::AccentLine), 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    }
    const QColor ink = color(isChecked() ? Token::AccentText : Token::TextSecondary);
    const QRectF iconPlace(0, height() * 0.14, width(), 22);
    drawIcon(&painter, iconPlace, m_icon, 20, ink);
    if (m_active) {
        painter.setPen(QPen(color(isChecked() ? Token::Selection : Token::Chrome), 1.5));
        painter.setBrush(color(Token::AccentLine));
        painter.drawEllipse(iconPlace.center() + QPointF(11, -8), 4, 4);
    }
    painter.setFont(textFont(TextRole::Chip));
    painter.setPen(ink);
    painter.drawText(QRectF(-4, height() * 0.58, width() + 8, height() * 0.36), Qt::AlignCenter, text());
}

RailBar::RailBar(QWidget *parent) : QWidget(parent), m_layout(new QVBoxLayout(this))
{
    setFixedWidth(Theme::instance().scaled(80));
    m_layout->setContentsMargins(6, 8, 6, 8);
    m_layout->setSpacing(4);
    m_layout->addStretch(1);
    m_group.setExclusive(true);
    connect(&m_group, &QButtonGroup::idClicked, this, &RailBar::chosen);
}

RailButton *RailBar::add(const QString &iconName, const QString &label)
{
    auto *button = new RailButton(iconName, label, this);
    const int index = int(m_group.buttons().size());
    m_group.addButton(button, index);
    m_layout->insertWidget(index, button, 0, Qt::AlignHCenter);
    return button;
}

RailButton *RailBar::button(int index) const { return static_cast<RailButton *>(m_group.button(index)); }

void RailBar::setCurrent(int index)
{
    if (QAbstractButton *found = m_group.button(index)) found->setChecked(true);
}

void RailBar::keyPressEvent(QKeyEvent *event)
{
    const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (step == 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const int next = std::clamp(current() + step, 0, int(m_group.buttons().size()) - 1);
    setCurrent(next);
    m_group.button(next)->setFocus(Qt::TabFocusReason);
    Q_EMIT chosen(next);
}

void RailBar::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), color(Token::Chrome));
    painter.fillRect(QRect(width() - 1, 0, 1, height()), color(Token::Line));
}

} // namespace parallax::ui
