// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/card.h"

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

#include <QHBoxLayout>
#include <QLabel>

namespace parallax::ui {

Card::Card(const QString &title, const QString &subtitle, QWidget *parent)
    : QFrame(parent), m_head(new QWidget(this)), m_title(makeLabel(title, TextRole::CardTitle)),
      m_subtitle(new ElidedLabel(TextRole::Table)), m_headRight(new QHBoxLayout), m_body(new QVBoxLayout)
{
    setProperty("role", QStringLiteral("card"));
    auto *head = new QHBoxLayout(m_head);
    head->setContentsMargins(12, 0, 8, 0);
    head->setSpacing(8);
    head->addWidget(m_title);
    head->addWidget(m_subtitle, 1);
    m_subtitle->setProperty("tone", QStringLiteral("muted"));
    setSubtitle(subtitle);
    m_headRight->setSpacing(8);
    head->addLayout(m_headRight);
    m_head->setFixedHeight(Theme::instance().scaled(32));
    m_head->setVisible(!title.isEmpty());
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(1, 1, 1, 1);
    column->setSpacing(0);
    column->addWidget(m_head);
    column->addLayout(m_body, 1);
    m_body->setContentsMargins(12, title.isEmpty() ? 12 : 0, 12, 12);
    m_body->setSpacing(8);
}

void Card::setTitle(const QString &title)
{
    m_title->setText(title);
    m_head->setVisible(!title.isEmpty());
}

void Card::setSubtitle(const QString &subtitle) { m_subtitle->setFullText(subtitle); }

QString Card::title() const { return m_title->text(); }

void Card::setTone(const QString &tone) { setStyleProperty(this, "tone", tone); }

void Card::addHeadWidget(QWidget *widget) { m_headRight->addWidget(widget); }

void Card::setFlush()
{
    m_body->setContentsMargins(0, 0, 0, 1);
    m_body->setSpacing(0);
}

} // namespace parallax::ui
