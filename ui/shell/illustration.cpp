// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/illustration.h"

#include "ui/widgets/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <cmath>
#include <random>

namespace parallax::ui {
namespace {

/// A boot on black, as in the demo's images, in a unit square; `view` crops, turns and dims it as an augmentation does.
void drawTile(QPainter *painter, const QRectF &tile, int view)
{
    painter->save();
    painter->setPen(QPen(color(Token::LineStrong), 1));
    painter->setBrush(color(Token::Panel));
    painter->drawRoundedRect(tile.adjusted(-3, -3, 3, 3), 6, 6);
    QPainterPath clip;
    clip.addRoundedRect(tile, 3, 3);
    painter->setClipPath(clip);
    painter->fillRect(tile, Qt::black);
    painter->translate(tile.topLeft());
    painter->scale(tile.width(), tile.height());
    if (view == 1) {
        painter->translate(-0.35, -0.1);
        painter->scale(1.45, 1.45);
    } else if (view == 2) {
        painter->translate(1.12, -0.06);
        painter->scale(-1.25, 1.25);
    }
    QPainterPath boot;
    boot.moveTo(0.47, 0.16);
    boot.cubicTo(0.6, 0.2, 0.75, 0.2, 0.86, 0.16);
    boot.lineTo(0.86, 0.78);
    boot.lineTo(0.08, 0.78);
    boot.cubicTo(0.05, 0.62, 0.2, 0.6, 0.33, 0.55);
    boot.cubicTo(0.45, 0.5, 0.47, 0.35, 0.47, 0.16);
    painter->setPen(Qt::NoPen);
    painter->setBrush(view == 1 ? QColor(0xb4, 0xb4, 0xb4) : QColor(0xe6, 0xe6, 0xe6));
    painter->drawPath(boot);
    painter->setBrush(view == 1 ? QColor(0x77, 0x77, 0x77) : QColor(0x9a, 0x9a, 0x9a));
    painter->drawRect(QRectF(0.07, 0.75, 0.79, 0.055));
    painter->drawRect(QRectF(0.62, 0.805, 0.24, 0.04));
    painter->setPen(QPen(QColor(0x70, 0x70, 0x70), 0.018));
    for (const double y : {0.3, 0.39, 0.48}) painter->drawLine(QPointF(0.5, y), QPointF(0.62, y - 0.03));
    painter->restore();
}

void drawCurve(QPainter *painter, const QPointF &from, const QPointF &to)
{
    QPainterPath path(from);
    const double middle = (from.x() + to.x()) / 2;
    path.cubicTo(QPointF(middle, from.y()), QPointF(middle, to.y()), to);
    painter->setPen(QPen(color(Token::LineStrong), 1.5));
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(path);
}

void drawNetwork(QPainter *painter, const QRectF &box)
{
    painter->setPen(QPen(color(Token::LineStrong), 1.5));
    painter->setBrush(color(Token::Sunken));
    painter->drawRoundedRect(box, 8, 8);
    painter->setPen(Qt::NoPen);
    painter->setBrush(color(Token::LineStrong));
    for (int i = -1; i <= 1; ++i)
        painter->drawRoundedRect(QRectF(box.left() + 16, box.center().y() - 3 + i * 15, box.width() - 32, 6), 3, 3);
}

void drawMap(QPainter *painter, const QRectF &area)
{
    // The same picture every time: a generator of its own with a fixed seed.
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    struct Cluster {
        double x, y, wide, high;
        int series, count;
    };
    constexpr Cluster clusters[] = {
        {0.12, 0.35, 0.035, 0.09, 7, 120}, {0.2, 0.4, 0.03, 0.1, 5, 110},    {0.22, 0.2, 0.05, 0.035, 9, 90},
        {0.48, 0.75, 0.05, 0.05, 8, 90},   {0.72, 0.08, 0.05, 0.025, 1, 90}, {0.74, 0.45, 0.035, 0.05, 3, 90},
        {0.86, 0.5, 0.04, 0.04, 0, 90},    {0.76, 0.75, 0.035, 0.07, 2, 90}, {0.82, 0.82, 0.04, 0.05, 4, 100}};
    painter->setPen(Qt::NoPen);
    for (const Cluster &cluster : clusters) {
        painter->setBrush(withAlpha(Theme::instance().series(cluster.series), 0.7));
        for (int i = 0; i < cluster.count; ++i)
            painter->drawEllipse(QPointF(area.left() + area.width() * (cluster.x + cluster.wide * normal(random)),
                                         area.top() + area.height() * (cluster.y + cluster.high * normal(random))),
                                 1.4, 1.4);
    }
    painter->setPen(QPen(color(Token::Panel), 2));
    painter->setBrush(color(Token::Accent));
    for (const QPointF point : {QPointF(0.2, 0.21), QPointF(0.25, 0.17)})
        painter->drawEllipse(QPointF(area.left() + area.width() * point.x(), area.top() + area.height() * point.y()), 6, 6);
}

} // namespace

Illustration::Illustration(QWidget *parent) : QWidget(parent)
{
    setFixedHeight(206);
    setAccessibleName(tr("One image, two views, one network, two points that meet"));
}

void Illustration::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double unit = width() / 976.0;
    const double middle = 94;
    const QRectF image(119 * unit, middle - 38, 76, 76), upper(312 * unit, 18, 70, 70), lower(312 * unit, 104, 70, 70);
    const QRectF network(538 * unit, middle - 36, 92, 72), map(690 * unit, 12, 230 * unit, 164);
    drawCurve(&painter, QPointF(image.right() + 4, middle), QPointF(upper.left() - 4, upper.center().y()));
    drawCurve(&painter, QPointF(image.right() + 4, middle), QPointF(lower.left() - 4, lower.center().y()));
    drawCurve(&painter, QPointF(upper.right() + 4, upper.center().y()), QPointF(network.left(), middle - 8));
    drawCurve(&painter, QPointF(lower.right() + 4, lower.center().y()), QPointF(network.left(), middle + 8));
    drawCurve(&painter, QPointF(network.right(), middle), QPointF(map.left() - 6, middle));
    drawTile(&painter, image, 0);
    drawTile(&painter, upper, 1);
    drawTile(&painter, lower, 2);
    drawNetwork(&painter, network);
    drawMap(&painter, map);
    painter.setFont(textFont(TextRole::Table));
    painter.setPen(color(Token::TextMuted));
    const std::pair<double, QString> captions[] = {{image.center().x(), tr("one image")},
                                                   {upper.center().x(), tr("two views")},
                                                   {network.center().x(), tr("one network")},
                                                   {map.center().x(), tr("two points that meet")}};
    for (const auto &[x, text] : captions) painter.drawText(QRectF(x - 90, 180, 180, 18), Qt::AlignCenter, text);
}

} // namespace parallax::ui
