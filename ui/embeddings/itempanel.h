// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/embeddings/itemmodel.h"

#include <QWidget>

class QLabel;
class QListView;

namespace parallax::ui {
class ElidedLabel;
}

namespace parallax::embeddings {

class ItemPicture;

/// Beside the map: the images that are shown, the chosen one with what its neighbours say of it, and these neighbours.
class ItemPanel : public QWidget
{
    Q_OBJECT
public:
    explicit ItemPanel(Thumbs *thumbs, QWidget *parent = nullptr);
    void setData(std::shared_ptr<const MapData> data);
    void setShown(const std::vector<bool> &shown, std::int64_t count);
    /// -1: nothing is chosen. `searching`: the neighbours follow.
    void setChosen(std::int64_t item, bool searching);
    void setNeighbours(const std::vector<embedding::Neighbour> &neighbours);
    ItemModel *images() const { return m_images; }
    ItemModel *neighbours() const { return m_neighbours; }
    QListView *neighbourView() const { return m_neighbourView; }
    QString voteText() const;

Q_SIGNALS:
    void chosen(std::int64_t item);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QListView *makeView(ItemModel *model, int side, bool scores, const QString &name);
    QWidget *makeCard();
    void showProblem();

    Thumbs *m_thumbs;
    std::shared_ptr<const MapData> m_data;
    std::int64_t m_item = -1;
    ItemModel *m_images, *m_neighbours;
    QListView *m_imageView, *m_neighbourView;
    QLabel *m_imageCount, *m_problem, *m_hint;
    QWidget *m_card = nullptr;
    ItemPicture *m_picture = nullptr;
    ui::ElidedLabel *m_name = nullptr, *m_class = nullptr;
    QLabel *m_vote = nullptr, *m_split = nullptr, *m_neighbourNote = nullptr;
};

} // namespace parallax::embeddings
