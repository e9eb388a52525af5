// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>

#include <vector>

namespace parallax::experiment {

/// A few pictures of the data, in the control's column of the form, with a muted note beside them.
class ThumbStrip : public QWidget
{
    Q_OBJECT
public:
    explicit ThumbStrip(QWidget *parent = nullptr);
    void setImages(std::vector<QImage> images, const QString &note);
    bool hasImages() const { return !m_images.empty(); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    std::vector<QImage> m_images;
    QString m_note;
};

/// `image` scaled to fill `rect`, corners rounded, middle kept.
void paintPicture(QPainter *painter, const QRectF &rect, const QImage &image, double radius);

} // namespace parallax::experiment
