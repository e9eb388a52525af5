// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/embeddings/mapdata.h"

#include <QAbstractListModel>
#include <QStyledItemDelegate>

#include <memory>
#include <vector>

namespace parallax::embeddings {

class Thumbs;

/// Some items of a map in some order: all that are shown, or the neighbours of one with their cosine.
class ItemModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum Role { ItemRole = Qt::UserRole, SeriesRole, CosineRole };
    explicit ItemModel(QObject *parent = nullptr) : QAbstractListModel(parent) { }

    void setItems(std::shared_ptr<const MapData> data, std::vector<std::int64_t> items);
    void setNeighbours(std::shared_ptr<const MapData> data, const std::vector<embedding::Neighbour> &neighbours);
    /// All items of the classes that are shown, in the order of the store.
    void setShown(std::shared_ptr<const MapData> data, const std::vector<bool> &shown);
    int rowOf(std::int64_t item) const;                  ///< -1: not among them
    std::int64_t itemOf(const QModelIndex &index) const; ///< -1: no such row

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;

private:
    std::shared_ptr<const MapData> m_data;
    std::vector<std::int64_t> m_items;
    std::vector<float> m_cosine; ///< empty, or one an item
};

/// A tile, a bar in its class's colour below it, and the cosine where there is one.
class ThumbDelegate : public QStyledItemDelegate
{
public:
    ThumbDelegate(Thumbs *thumbs, int side, bool scores, QObject *parent)
        : QStyledItemDelegate(parent), m_thumbs(thumbs), m_side(side), m_scores(scores)
    {
    }
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    Thumbs *m_thumbs;
    int m_side;
    bool m_scores;
};

} // namespace parallax::embeddings
