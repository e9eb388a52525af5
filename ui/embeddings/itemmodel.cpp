// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/itemmodel.h"

#include "ui/embeddings/thumbs.h"
#include "ui/widgets/format.h"
#include "ui/widgets/theme.h"

#include <QPainter>

#include <algorithm>

namespace parallax::embeddings {
namespace {

using ui::Token;

constexpr int gap = 5, bar = 3, scoreHeight = 16;

} // namespace

void ItemModel::setItems(std::shared_ptr<const MapData> data, std::vector<std::int64_t> items)
{
    beginResetModel();
    m_data = std::move(data);
    m_items = std::move(items);
    m_cosine.clear();
    endResetModel();
}

void ItemModel::setNeighbours(std::shared_ptr<const MapData> data, const std::vector<embedding::Neighbour> &neighbours)
{
    beginResetModel();
    m_data = std::move(data);
    m_items.clear();
    m_cosine.clear();
    for (const auto &neighbour : neighbours) {
        m_items.push_back(neighbour.item);
        m_cosine.push_back(neighbour.cosine);
    }
    endResetModel();
}

void ItemModel::setShown(std::shared_ptr<const MapData> data, const std::vector<bool> &shown)
{
    std::vector<std::int64_t> items;
    if (data)
        for (std::int64_t i = 0; i < data->count(); ++i)
            if (shown[std::size_t(data->classOf[std::size_t(i)])]) items.push_back(i);
    setItems(std::move(data), std::move(items));
}

int ItemModel::rowOf(std::int64_t item) const
{
    const auto it = std::find(m_items.begin(), m_items.end(), item);
    return it == m_items.end() ? -1 : int(it - m_items.begin());
}

std::int64_t ItemModel::itemOf(const QModelIndex &index) const
{
    return index.isValid() && checkIndex(index) ? m_items[std::size_t(index.row())] : -1;
}

int ItemModel::rowCount(const QModelIndex &parent) const { return parent.isValid() ? 0 : int(m_items.size()); }

QVariant ItemModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const std::int64_t item = m_items[std::size_t(index.row())];
    const ClassInfo &info = m_data->classes[std::size_t(m_data->classOf[std::size_t(item)])];
    switch (role) {
    case Qt::AccessibleTextRole:
    case Qt::ToolTipRole: return QString(m_data->name(item) + QLatin1Char('\n') + info.name);
    case ItemRole: return qlonglong(item);
    case SeriesRole: return info.series;
    case CosineRole: return m_cosine.empty() ? QVariant() : QVariant(m_cosine[std::size_t(index.row())]);
    default: return {};
    }
}

QSize ThumbDelegate::sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const
{
    return {m_side + gap, m_side + gap + (m_scores ? ui::Theme::instance().scaled(scoreHeight) : 0)};
}

void ThumbDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF cell = option.rect;
    const QRectF tile(cell.left() + gap / 2.0, cell.top() + gap / 2.0, m_side, m_side);
    m_thumbs->paint(painter, tile.adjusted(0, 0, 0, -bar), index.data(ItemModel::ItemRole).toLongLong());
    const int series = index.data(ItemModel::SeriesRole).toInt();
    painter->fillRect(QRectF(tile.left(), tile.bottom() - bar, tile.width(), bar),
                      series < 0 ? ui::color(Token::LineStrong) : ui::Theme::instance().series(series));
    const bool chosen = option.state & QStyle::State_Selected;
    if (chosen || option.state & QStyle::State_MouseOver) {
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(ui::color(chosen ? Token::AccentLine : Token::InputLine), chosen ? 2 : 1));
        painter->drawRoundedRect(tile.adjusted(-1, -1, 1, 1), 4, 4);
    }
    if (const QVariant cosine = index.data(ItemModel::CosineRole); cosine.isValid()) {
        painter->setFont(ui::textFont(ui::TextRole::Caption));
        painter->setPen(ui::color(Token::TextSecondary));
        ui::drawTabular(painter, QRectF(cell.left(), tile.bottom() + 1, cell.width(), cell.bottom() - tile.bottom() - 1),
                        ui::formatFixed(cosine.toDouble(), 3), Qt::AlignHCenter);
    }
    painter->restore();
}

} // namespace parallax::embeddings
