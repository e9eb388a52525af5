// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/legend.h"

#include "ui/widgets/format.h"
#include "ui/widgets/theme.h"

#include <QKeyEvent>
#include <QListView>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace parallax::embeddings {
namespace {

using ui::Token;

constexpr int padding = 12, swatch = 10;

class LegendDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &index) const override
    {
        const QFontMetricsF metrics(ui::textFont(ui::TextRole::Table));
        const double name = std::min(metrics.horizontalAdvance(index.data().toString()), 200.0);
        const double count = ui::tabularWidth(metrics, ui::formatCount(index.data(ClassModel::CountRole).toDouble()));
        return {int(2 * padding + swatch + 8 + name + 24 + count), ui::Theme::instance().scaled(26)};
    }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const bool shown = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
        const int series = index.data(ClassModel::SeriesRole).toInt();
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const QRectF row = QRectF(option.rect).adjusted(4, 0, -4, 0);
        if (option.state & (QStyle::State_MouseOver | QStyle::State_HasFocus)) {
            painter->setPen(Qt::NoPen);
            painter->setBrush(ui::color(Token::Hover));
            painter->drawRoundedRect(row, 4, 4);
        }
        const QColor ink = series < 0 ? ui::color(Token::AccentLine) : ui::Theme::instance().series(series);
        const QRectF box(row.left() + padding - 4, row.center().y() - swatch / 2.0, swatch, swatch);
        painter->setPen(shown ? QPen(Qt::NoPen) : QPen(ui::color(Token::InputLine), 1));
        painter->setBrush(shown ? QBrush(ink) : Qt::NoBrush);
        painter->drawRoundedRect(shown ? box : box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
        painter->setFont(ui::textFont(ui::TextRole::Table));
        const QString count = ui::formatCount(index.data(ClassModel::CountRole).toDouble());
        const QRectF text = row.adjusted(padding - 4 + swatch + 8, 0, -(padding - 4), 0);
        const QFontMetricsF metrics(painter->font());
        painter->setPen(ui::color(shown ? Token::Text : Token::TextDisabled));
        painter->drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
                          metrics.elidedText(index.data().toString(), Qt::ElideMiddle,
                                             text.width() - ui::tabularWidth(metrics, count) - 8));
        painter->setPen(ui::color(shown ? Token::TextMuted : Token::TextDisabled));
        ui::drawTabular(painter, text, count, Qt::AlignRight);
        painter->restore();
    }
};

} // namespace

Legend::Legend(ClassModel *model, QWidget *parent) : QFrame(parent), m_model(model), m_view(new QListView(this))
{
    setProperty("role", QStringLiteral("card"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(1, 6, 1, 6);
    column->addWidget(m_view);
    m_view->setModel(model);
    m_view->setItemDelegate(new LegendDelegate(m_view));
    m_view->setMouseTracking(true);
    m_view->setSelectionMode(QAbstractItemView::NoSelection);
    m_view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setUniformItemSizes(false);
    m_view->setAccessibleName(tr("Classes"));
    m_view->installEventFilter(this);
    m_view->viewport()->installEventFilter(this);
    m_view->setToolTip(tr("Click: hide or show. Double-click: only this class."));
    connect(m_view, &QListView::clicked, model, [model](const QModelIndex &index) { model->toggle(index.row()); });
    connect(m_view, &QListView::doubleClicked, model, [model](const QModelIndex &index) { model->isolate(index.row()); });
    connect(m_view, &QListView::entered, this, [this](const QModelIndex &index) { Q_EMIT hoveredChanged(index.row()); });
}

bool Legend::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_view->viewport() && event->type() == QEvent::Leave) Q_EMIT hoveredChanged(-1);
    if (watched == m_view && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        const int row = m_view->currentIndex().row();
        if (key == Qt::Key_Space) return m_model->toggle(row), true;
        if (key == Qt::Key_Return || key == Qt::Key_Enter) return m_model->isolate(row), true;
    }
    return QFrame::eventFilter(watched, event);
}

void Legend::fitInto(const QSize &room)
{
    int wide = 0, high = 12;
    for (int row = 0; row < m_model->rowCount(); ++row) {
        const QSize size = m_view->sizeHintForIndex(m_model->index(row));
        wide = std::max(wide, size.width());
        high += size.height();
    }
    const bool scrolls = high > room.height();
    resize(std::min(wide + 2 + (scrolls ? 12 : 0), room.width()), std::min(high + 2, room.height()));
}

} // namespace parallax::embeddings
