// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/sectionlist.h"

#include "ui/experiment/draft.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QVBoxLayout>

namespace parallax::experiment {

using ui::TextRole;
using ui::Token;

SectionButton::SectionButton(const QString &name, const QString &group, QWidget *parent)
    : QAbstractButton(parent), m_group(group)
{
    setText(name);
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setFont(ui::textFont(TextRole::Body));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize SectionButton::sizeHint() const { return {160, ui::Theme::instance().scaled(32)}; }

void SectionButton::setCounts(int changed, int wrong)
{
    m_changed = changed;
    m_wrong = wrong;
    setAccessibleDescription(wrong == 1        ? tr("%L1 error").arg(1)
                                 : wrong > 1   ? tr("%L1 errors").arg(wrong)
                                 : changed > 0 ? tr("%L1 changed").arg(changed)
                                               : QString());
    setToolTip(accessibleDescription());
    update();
}

void SectionButton::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = rect();
    if (isChecked() || underMouse()) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(ui::color(isChecked() ? Token::Selection : Token::Hover));
        painter.drawRoundedRect(area, 6, 6);
    }
    if (hasFocus()) {
        painter.setPen(QPen(ui::color(Token::AccentLine), 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    }
    painter.setPen(ui::color(isChecked() ? Token::AccentText : Token::TextSecondary));
    painter.drawText(area.adjusted(12, 0, -44, 0), Qt::AlignVCenter | Qt::AlignLeft, text());
    QRectF right = area.adjusted(0, 0, -10, 0);
    if (m_wrong > 0) {
        ui::drawIcon(&painter, QRectF(right.right() - 14, 0, 14, height()), QStringLiteral("alert"), 14,
                     ui::color(Token::Error));
        right.setRight(right.right() - 20);
    }
    if (m_changed == 0) return;
    painter.setFont(ui::textFont(TextRole::Caption));
    painter.setPen(ui::color(Token::TextMuted));
    const QString count = ui::formatCount(m_changed);
    ui::drawTabular(&painter, right, count, Qt::AlignRight);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ui::color(Token::AccentLine));
    painter.drawEllipse(QPointF(right.right() - ui::tabularWidth(QFontMetricsF(painter.font()), count) - 8, height() / 2.0),
                        3, 3);
}

SectionList::SectionList(Draft *draft, QWidget *parent)
    : QWidget(parent), m_draft(draft), m_changes(ui::makeLabel(QString(), TextRole::Table, "muted", this)),
      m_reset(ui::makeButton(tr("Reset all"), QStringLiteral("undo"), ui::ButtonKind::Quiet, true, this))
{
    setFixedWidth(ui::Theme::instance().scaled(184));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(8, 12, 9, 12);
    column->setSpacing(2);
    m_group.setExclusive(true);
    for (const auto &group : draft->schema().groups()) {
        auto *button = new SectionButton(QString::fromStdString(group.label), QString::fromStdString(group.name), this);
        m_group.addButton(button);
        m_buttons.push_back(button);
        column->addWidget(button);
        connect(button, &QAbstractButton::clicked, this, [this, button] { Q_EMIT sectionChosen(button->group()); });
    }
    if (!m_buttons.empty()) m_buttons.front()->setChecked(true);
    column->addStretch(1);
    auto *line = new QHBoxLayout;
    line->setContentsMargins(12, 0, 0, 0);
    line->addWidget(m_changes);
    column->addLayout(line);
    column->addWidget(m_reset, 0, Qt::AlignLeft);
    connect(m_reset, &QPushButton::clicked, draft, &Draft::resetAll);
    connect(draft, &Draft::changed, this, &SectionList::refresh);
    connect(draft, &Draft::fieldsChanged, this, &SectionList::refresh);
    refresh();
}

void SectionList::refresh()
{
    for (SectionButton *button : m_buttons) {
        const auto group = button->group().toStdString();
        button->setCounts(m_draft->changeCount(group), m_draft->problemCount(group));
    }
    const int all = m_draft->changeCount();
    m_changes->setText(all == 1 ? tr("%L1 setting changed").arg(1) : tr("%L1 settings changed").arg(all));
    m_changes->setVisible(all > 0);
    m_reset->setVisible(all > 0);
}

void SectionList::setCurrent(const QString &group)
{
    if (SectionButton *found = button(group)) found->setChecked(true);
}

SectionButton *SectionList::button(const QString &group) const
{
    for (SectionButton *button : m_buttons)
        if (button->group() == group) return button;
    return nullptr;
}

void SectionList::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), ui::color(Token::Panel));
    painter.fillRect(QRect(width() - 1, 0, 1, height()), ui::color(Token::Line));
}

} // namespace parallax::experiment
