// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/pointpopover.h"

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

#include <QApplication>
#include <QGridLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPushButton>

#include <algorithm>
#include <cmath>

namespace parallax::ui {

PointPopover::PointPopover(QWidget *parent)
    : QFrame(parent), m_title(makeLabel(QString(), TextRole::CardTitle)), m_value(makeLabel(QString(), TextRole::Table)),
      m_change(makeLabel(QString(), TextRole::Table, "muted")),
      m_none(makeLabel(tr("No embeddings stored for this epoch"), TextRole::Caption, "muted")),
      m_open(makeButton(tr("Open embeddings"), QStringLiteral("embeddings"), ButtonKind::Quiet, true))
{
    setProperty("role", QStringLiteral("popover"));
    auto *grid = new QGridLayout(this);
    grid->setContentsMargins(10, 8, 10, 8);
    grid->setHorizontalSpacing(8);
    grid->addWidget(m_title, 0, 0);
    grid->addWidget(m_value, 0, 1);
    grid->addWidget(m_change, 0, 2);
    grid->addWidget(m_open, 1, 0, 1, 3, Qt::AlignLeft);
    grid->addWidget(m_none, 1, 0, 1, 3, Qt::AlignLeft);
    connect(m_open, &QPushButton::clicked, this, [this] {
        hide();
        Q_EMIT openRequested(m_epoch);
    });
    hide();
}

void PointPopover::showPoint(int epoch, double value, double change, bool stored, const QPoint &at)
{
    m_epoch = epoch;
    m_title->setText(epoch == 0 ? tr("Untrained") : tr("Epoch %L1").arg(epoch));
    m_value->setText(formatFixed(value, 4));
    m_change->setText(std::isfinite(change)
                          ? (change < 0 ? QStringLiteral("− ") : QStringLiteral("+ ")) + formatFixed(std::abs(change), 4)
                          : QString());
    m_open->setVisible(stored);
    m_none->setVisible(!stored);
    adjustSize();
    const QRect room = parentWidget()->rect().adjusted(8, 8, -8, -8);
    QPoint corner = at + QPoint(-width() / 2, 14);
    if (corner.y() + height() > room.bottom()) corner.setY(at.y() - height() - 14);
    corner.setX(std::clamp(corner.x(), room.left(), std::max(room.left(), room.right() - width())));
    move(corner);
    show();
    raise();
    qApp->installEventFilter(this);
}

bool PointPopover::eventFilter(QObject *watched, QEvent *event)
{
    const bool press = event->type() == QEvent::MouseButtonPress && isVisible();
    if (press && !rect().contains(mapFromGlobal(static_cast<QMouseEvent *>(event)->globalPosition().toPoint()))) {
        qApp->removeEventFilter(this);
        hide();
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace parallax::ui
