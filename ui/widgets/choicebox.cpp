// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/choicebox.h"

#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QWheelEvent>

#include <algorithm>

namespace parallax::ui {
namespace {

constexpr int padding = 12, gap = 8, chevron = 28, smallestText = 48, slack = 6;

} // namespace

ChoiceBox::ChoiceBox(const QString &prefix, QWidget *parent) : QComboBox(parent), m_prefix(prefix)
{
    setAccessibleName(prefix);
    setFocusPolicy(Qt::StrongFocus);
    setMaxVisibleItems(16);
    setSizeAdjustPolicy(QComboBox::AdjustToContents);
}

QSize ChoiceBox::sizeHint() const
{
    int text = smallestText;
    for (int i = 0; i < count(); ++i) text = std::max(text, fontMetrics().horizontalAdvance(itemText(i)));
    const int before = m_prefix.isEmpty() ? 0 : fontMetrics().horizontalAdvance(m_prefix) + gap;
    const int picture = count() > 0 && !itemIcon(0).isNull() ? iconSize().width() + gap : 0;
    return {std::min(padding + before + picture + text + chevron + slack, Theme::instance().scaled(340)),
            QComboBox::sizeHint().height()};
}

QSize ChoiceBox::minimumSizeHint() const
{
    const int before = m_prefix.isEmpty() ? 0 : fontMetrics().horizontalAdvance(m_prefix) + gap;
    return {padding + before + smallestText + chevron, QComboBox::sizeHint().height()};
}

void ChoiceBox::wheelEvent(QWheelEvent *event) { event->ignore(); }

void ChoiceBox::paintEvent(QPaintEvent *)
{
    QStylePainter painter(this);
    QStyleOptionComboBox option;
    initStyleOption(&option);
    option.currentText.clear();
    option.currentIcon = QIcon();
    painter.drawComplexControl(QStyle::CC_ComboBox, option);

    QRect rest = rect().adjusted(padding, 0, -chevron, 0);
    if (!m_prefix.isEmpty()) {
        painter.setPen(color(isEnabled() ? Token::TextMuted : Token::TextDisabled));
        painter.drawText(rest, Qt::AlignVCenter | Qt::AlignLeft, m_prefix);
        rest.setLeft(rest.left() + fontMetrics().horizontalAdvance(m_prefix) + gap);
    }
    if (const QIcon picture = itemIcon(currentIndex()); !picture.isNull()) {
        const QSize size = iconSize();
        picture.paint(&painter, QRect(QPoint(rest.left(), (height() - size.height()) / 2), size));
        rest.setLeft(rest.left() + size.width() + gap);
    }
    const QString text = currentIndex() < 0 ? placeholderText() : currentText();
    painter.setPen(color(!isEnabled() ? Token::TextDisabled : currentIndex() < 0 ? Token::TextMuted : Token::Text));
    painter.drawText(rest, Qt::AlignVCenter | Qt::AlignLeft, fontMetrics().elidedText(text, Qt::ElideRight, rest.width()));
}

} // namespace parallax::ui
