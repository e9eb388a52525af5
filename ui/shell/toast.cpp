// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/toast.h"

#include "ui/widgets/controls.h"
#include "ui/widgets/icons.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include <algorithm>

namespace parallax::ui {

namespace {
constexpr int showMs = 4000;
constexpr int aboveStatus = 44; ///< px from the window's lower edge
} // namespace

Toast::Toast(QWidget *parent) : QFrame(parent), m_icon(new QLabel), m_text(makeLabel(QString()))
{
    setProperty("role", QStringLiteral("popover"));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(12, 8, 8, 8);
    row->setSpacing(10);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto *close = makeIconButton(QStringLiteral("close"), tr("Close"));
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    row->addWidget(close, 0, Qt::AlignTop);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    m_hide.setSingleShot(true);
    m_hide.setInterval(showMs);
    connect(&m_hide, &QTimer::timeout, this, &QWidget::hide);
    parent->installEventFilter(this);
    hide();
}

void Toast::tell(const QString &message)
{
    popUp(message, false);
    m_hide.start();
}

void Toast::warn(const QString &message)
{
    m_hide.stop();
    popUp(message, true);
}

QString Toast::text() const { return m_text->text(); }

void Toast::popUp(const QString &message, bool error)
{
    m_icon->setPixmap(
        icon(error ? QStringLiteral("alert") : QStringLiteral("info"), error ? Token::Error : Token::TextSecondary)
            .pixmap(16, 16));
    m_text->setText(message);
    place();
    show();
    raise();
}

void Toast::place()
{
    const int room = parentWidget()->width() - 48;
    const int wide = m_text->fontMetrics().horizontalAdvance(m_text->text()) + 96;
    setFixedWidth(std::clamp(wide, 240, std::max(240, std::min(room, 720))));
    adjustSize();
    move((parentWidget()->width() - width()) / 2, parentWidget()->height() - height() - aboveStatus);
}

bool Toast::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize && isVisible()) place();
    return QFrame::eventFilter(watched, event);
}

} // namespace parallax::ui
