// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/banner.h"

#include "ui/widgets/controls.h"
#include "ui/widgets/icons.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace parallax::experiment {
namespace {

constexpr int tallest = 132;

} // namespace

Banner::Banner(QWidget *parent)
    : QFrame(parent), m_title(ui::makeLabel(QString(), ui::TextRole::State, "error")),
      m_text(ui::makeLabel(QString(), ui::TextRole::Table)), m_scroll(new QScrollArea(this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(44, 8, 8, 10);
    row->setSpacing(8);
    auto *column = new QVBoxLayout;
    column->setSpacing(2);
    column->addWidget(m_title);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_scroll->setWidget(m_text);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->viewport()->setAutoFillBackground(false);
    m_text->setAutoFillBackground(false);
    column->addWidget(m_scroll);
    row->addLayout(column, 1);
    auto *close = ui::makeIconButton(QStringLiteral("close"), tr("Close this message"), this);
    row->addWidget(close, 0, Qt::AlignTop);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void Banner::showError(const QString &title, const QString &text)
{
    m_title->setText(title);
    m_text->setText(text);
    setAccessibleName(title);
    setAccessibleDescription(text);
    show();
    fitHeight();
}

QString Banner::text() const { return m_title->text() + QLatin1Char('\n') + m_text->text(); }

void Banner::fitHeight()
{
    const int wide = std::max(100, width() - 44 - 8 - 40);
    m_scroll->setFixedHeight(std::min(tallest, m_text->heightForWidth(wide) + 4));
}

void Banner::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    fitHeight();
}

void Banner::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), ui::color(ui::Token::ErrorSoft));
    painter.fillRect(QRect(0, height() - 1, width(), 1), ui::color(ui::Token::ErrorLine));
    ui::drawIcon(&painter, QRectF(20, 9, 16, 16), QStringLiteral("alert"), 16, ui::color(ui::Token::Error));
}

} // namespace parallax::experiment
