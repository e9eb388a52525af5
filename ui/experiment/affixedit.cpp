// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/affixedit.h"

#include "ui/widgets/format.h"
#include "ui/widgets/theme.h"

#include <QEvent>
#include <QPainter>

namespace parallax::experiment {
namespace {

constexpr int edge = 11, gap = 8;

} // namespace

AffixEdit::AffixEdit(const QString &prefix, const QString &suffix, QWidget *parent)
    : QLineEdit(parent), m_prefix(prefix), m_suffix(suffix)
{
    makeRoom();
}

void AffixEdit::setError(bool on)
{
    const QString state = on ? QStringLiteral("error") : QString();
    if (property("state").toString() != state) ui::setStyleProperty(this, "state", state);
}

void AffixEdit::makeRoom()
{
    const auto wide = [this](const QString &text) {
        return text.isEmpty() ? 0 : fontMetrics().horizontalAdvance(text) + gap;
    };
    setTextMargins(wide(m_prefix), 0, wide(m_suffix), 0);
}

void AffixEdit::changeEvent(QEvent *event)
{
    QLineEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) makeRoom();
}

void AffixEdit::paintEvent(QPaintEvent *event)
{
    QLineEdit::paintEvent(event);
    QPainter painter(this);
    painter.setPen(ui::color(isEnabled() ? ui::Token::TextMuted : ui::Token::TextDisabled));
    const QRect area = rect().adjusted(edge, 0, -edge, 0);
    painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, m_prefix);
    painter.drawText(area, Qt::AlignVCenter | Qt::AlignRight, m_suffix);
}

} // namespace parallax::experiment
