// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/thumbstrip.h"

#include "ui/experiment/fieldrow.h"
#include "ui/widgets/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace parallax::experiment {
namespace {

constexpr int side = 32, most = 8;

} // namespace

void paintPicture(QPainter *painter, const QRectF &rect, const QImage &image, double radius)
{
    if (image.isNull()) return;
    painter->save();
    painter->setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
    QPainterPath shape;
    shape.addRoundedRect(rect, radius, radius);
    painter->setClipPath(shape);
    QSizeF part = rect.size();
    part.scale(image.size(), Qt::KeepAspectRatio);
    painter->drawImage(rect, image,
                       QRectF(QPointF((image.width() - part.width()) / 2, (image.height() - part.height()) / 2), part));
    painter->restore();
}

ThumbStrip::ThumbStrip(QWidget *parent) : QWidget(parent) { setFixedHeight(ui::Theme::instance().scaled(side + 10)); }

void ThumbStrip::setImages(std::vector<QImage> images, const QString &note)
{
    m_images = std::move(images);
    m_note = note;
    setAccessibleName(note);
    update();
}

void ThumbStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const auto &theme = ui::Theme::instance();
    const double size = theme.scaled(side),
                 from = FieldRow::leftMargin + FieldRow::dotColumn + theme.scaled(FieldRow::labelColumn),
                 wide = theme.scaled(FieldRow::controlColumn);
    const int count = std::min<int>(most, int(m_images.size()));
    const double step = (wide - size) / (most - 1);
    for (int i = 0; i < count; ++i)
        paintPicture(&painter, QRectF(from + i * step, 2, size, size), m_images[std::size_t(i)], 3);
    painter.setFont(ui::textFont(ui::TextRole::Table));
    painter.setPen(ui::color(ui::Token::TextMuted));
    const QRectF text(from + wide + 12, 2, width() - from - wide - 28, size);
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetricsF(painter.font()).elidedText(m_note, Qt::ElideRight, text.width()));
}

} // namespace parallax::experiment
