// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/embeddings/mapdata.h"

#include <QImage>
#include <QObject>
#include <QSet>
#include <QString>

#include <list>
#include <memory>

class QPainter;
class QRectF;

namespace parallax::embeddings {

/// The tiles of a stored epoch. Atlas files are read in threads when a tile is first asked for; the newest few stay in
/// memory.
class Thumbs : public QObject
{
    Q_OBJECT
public:
    explicit Thumbs(QObject *parent = nullptr) : QObject(parent) { }
    void setData(std::shared_ptr<const MapData> data);
    /// Null while its atlas is being read (arrived() follows) and for ever when there is none.
    QImage tile(std::int64_t item);
    /// Draws the tile into `rect` with rounded corners, or a well with an image icon where there is no picture.
    void paint(QPainter *painter, const QRectF &rect, std::int64_t item, double radius = 3);
    /// Why pictures are missing; empty: none is.
    QString problem() const { return m_problem; }

Q_SIGNALS:
    void arrived();
    void problemChanged();

private:
    struct Atlas {
        QString file;
        QImage image;
    };
    void request(const QString &file);
    void take(const QString &file, const QImage &image, const QString &reason);

    std::shared_ptr<const MapData> m_data;
    std::list<Atlas> m_atlases; ///< last used first
    QSet<QString> m_reading, m_missing;
    QString m_problem;
};

} // namespace parallax::embeddings
