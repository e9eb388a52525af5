// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/page.h"

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

namespace parallax::ui {
namespace {

void paintStrip(QWidget *widget)
{
    QPainter painter(widget);
    painter.fillRect(widget->rect(), color(Token::Panel));
    painter.fillRect(QRect(0, widget->height() - 1, widget->width(), 1), color(Token::Line));
}

} // namespace

PageHeader::PageHeader(const QString &title, QWidget *parent)
    : QWidget(parent), m_note(makeLabel(QString(), TextRole::Table, "muted")), m_left(new QHBoxLayout),
      m_right(new QHBoxLayout)
{
    setFixedHeight(Theme::instance().scaled(56));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(24, 0, 16, 1);
    row->setSpacing(12);
    row->addWidget(makeLabel(title, TextRole::PageTitle));
    m_left->setSpacing(8);
    m_right->setSpacing(8);
    m_left->setContentsMargins(6, 0, 0, 0);
    row->addLayout(m_left);
    row->addWidget(m_note);
    row->addStretch(1);
    row->addLayout(m_right);
}

void PageHeader::setNote(const QString &note) { m_note->setText(note); }

void PageHeader::addLeft(QWidget *widget) { m_left->addWidget(widget); }

void PageHeader::addRight(QWidget *widget) { m_right->addWidget(widget); }

void PageHeader::paintEvent(QPaintEvent *) { paintStrip(this); }

Strip::Strip(int height, QWidget *parent) : QWidget(parent), m_row(new QHBoxLayout(this))
{
    setFixedHeight(Theme::instance().scaled(height));
    m_row->setContentsMargins(24, 0, 16, 1);
    m_row->setSpacing(8);
}

void Strip::paintEvent(QPaintEvent *) { paintStrip(this); }

KeyFigures::KeyFigures(QWidget *parent) : QWidget(parent)
{
    setFixedHeight(Theme::instance().scaled(56));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void KeyFigures::setFigures(std::vector<KeyFigure> figures)
{
    if (figures == m_figures) return;
    m_figures = std::move(figures);
    QStringList spoken;
    for (const KeyFigure &figure : m_figures) spoken << figure.caption + QStringLiteral(": ") + figure.value;
    setAccessibleName(spoken.join(QStringLiteral(", ")));
    update();
}

QSize KeyFigures::sizeHint() const { return {110 * int(m_figures.size()), height()}; }

void KeyFigures::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), color(Token::Panel));
    painter.fillRect(QRect(0, height() - 1, width(), 1), color(Token::Line));
    if (m_figures.empty()) return;
    const double cell = double(width() - 12) / double(m_figures.size());
    for (std::size_t i = 0; i < m_figures.size(); ++i) {
        const KeyFigure &figure = m_figures[i];
        const double left = 12 + cell * double(i);
        if (i > 0) painter.fillRect(QRectF(left, 0, 1, height() - 1), color(Token::Line));
        const QRectF area(left + 12, 0, cell - 20, height() - 1);
        painter.setFont(textFont(TextRole::Caption));
        painter.setPen(color(Token::TextMuted));
        painter.drawText(QRectF(area.left(), height() * 0.12, area.width(), 18), Qt::AlignVCenter | Qt::AlignLeft,
                         figure.caption);
        const QRectF line(area.left(), height() * 0.44, area.width(), height() * 0.44);
        painter.setFont(textFont(TextRole::KeyFigure));
        painter.setPen(color(figure.ink));
        const double wide = tabularWidth(QFontMetricsF(painter.font()), figure.value);
        drawTabular(&painter, line, figure.value, Qt::AlignLeft);
        painter.setFont(textFont(TextRole::Table));
        painter.setPen(color(Token::TextSecondary));
        const QRectF rest = line.adjusted(wide + 6, 1, 0, 1);
        // A cut note says less than none: it goes where it has no room.
        if (tabularWidth(QFontMetricsF(painter.font()), figure.note) <= rest.width())
            drawTabular(&painter, rest, figure.note, Qt::AlignLeft);
    }
}

EmptyState::EmptyState(const QString &iconName, const QString &title, const QString &text, QWidget *parent)
    : QWidget(parent), m_icon(iconName), m_title(makeLabel(title, TextRole::Section)),
      m_text(makeLabel(text, TextRole::Body, "secondary"))
{
    auto *column = new QVBoxLayout(this);
    column->setSpacing(8);
    column->addStretch(1);
    column->addSpacing(48); // the icon is painted here
    m_title->setAlignment(Qt::AlignHCenter);
    m_text->setAlignment(Qt::AlignHCenter);
    m_text->setWordWrap(true);
    m_text->setFixedWidth(Theme::instance().scaled(480));
    column->addWidget(m_title);
    auto *middle = new QHBoxLayout; // keeps the height that a wrapped text needs, which an alignment does not
    middle->addStretch(1);
    middle->addWidget(m_text);
    middle->addStretch(1);
    column->addLayout(middle);
    column->addStretch(1);
}

void EmptyState::setTexts(const QString &title, const QString &text)
{
    m_title->setText(title);
    m_text->setText(text);
}

QPushButton *EmptyState::setAction(const QString &text, bool primary)
{
    if (!m_action) {
        m_action = makeButton(text, QString(), primary ? ButtonKind::Primary : ButtonKind::Plain);
        auto *column = static_cast<QVBoxLayout *>(layout());
        column->insertSpacing(column->count() - 1, 8);
        column->insertWidget(column->count() - 1, m_action, 0, Qt::AlignHCenter);
    }
    m_action->setText(text);
    return m_action;
}

void EmptyState::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const QRectF place(width() / 2.0 - 20, m_title->y() - 52.0, 40, 40);
    drawIcon(&painter, place, m_icon, 32, color(Token::TextMuted));
}

} // namespace parallax::ui
