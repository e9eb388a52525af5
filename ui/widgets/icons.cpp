// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/icons.h"

#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

namespace parallax::ui {
namespace {

QByteArray source(const QString &name)
{
    static QHash<QString, QByteArray> sources;
    const auto found = sources.constFind(name);
    if (found != sources.constEnd()) return *found;
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    const bool opened = file.open(QIODevice::ReadOnly);
    Q_ASSERT_X(opened, "icon", qPrintable(name));
    return *sources.insert(name, opened ? file.readAll() : QByteArray());
}

class IconEngine : public QIconEngine
{
public:
    IconEngine(QString name, Token normal, bool lit) : m_name(std::move(name)), m_normal(normal), m_lit(lit) { }

    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State state) override
    {
        const double ratio = painter->device() ? painter->device()->devicePixelRatioF() : 1;
        const int side = qMin(rect.width(), rect.height());
        const QRect place(rect.x(), rect.y() + (rect.height() - side) / 2, side, side);
        painter->drawPixmap(place, iconPixmap(m_name, side, colorFor(mode, state), ratio));
    }
    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        return scaledPixmap(size, mode, state, 1);
    }
    QPixmap scaledPixmap(const QSize &size, QIcon::Mode mode, QIcon::State state, qreal) override
    {
        // Qt asks in device pixels and sets the ratio itself.
        if (size.width() == size.height()) return iconPixmap(m_name, size.width(), colorFor(mode, state), 1);
        QPixmap wide(size);
        wide.fill(Qt::transparent);
        QPainter painter(&wide);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return wide;
    }
    QIconEngine *clone() const override { return new IconEngine(m_name, m_normal, m_lit); }
    QString key() const override { return QStringLiteral("parallax"); }

private:
    QColor colorFor(QIcon::Mode mode, QIcon::State state) const
    {
        if (mode == QIcon::Disabled) return color(Token::TextDisabled);
        return color(m_lit && state == QIcon::On ? Token::AccentText : m_normal);
    }
    QString m_name;
    Token m_normal;
    bool m_lit;
};

} // namespace

QIcon icon(const QString &name, Token normal, bool lit) { return QIcon(new IconEngine(name, normal, lit)); }

QPixmap iconPixmap(const QString &name, int size, const QColor &color, double ratio)
{
    const QString key = QStringLiteral("parallax-icon/%1/%2/%3/%4").arg(name).arg(size).arg(color.rgba()).arg(ratio);
    QPixmap pixmap;
    if (QPixmapCache::find(key, &pixmap)) return pixmap;
    QByteArray svg = source(name);
    svg.replace("\"#000\"", '"' + color.name().toLatin1() + '"');
    QSvgRenderer renderer(svg);
    const int pixels = qMax(1, qRound(size * ratio));
    QImage image(pixels, pixels, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    renderer.render(&painter, QRectF(0, 0, pixels, pixels));
    painter.end();
    pixmap = QPixmap::fromImage(image);
    pixmap.setDevicePixelRatio(ratio);
    QPixmapCache::insert(key, pixmap);
    return pixmap;
}

void drawIcon(QPainter *painter, const QRectF &rect, const QString &name, int size, const QColor &color, double turned)
{
    const double ratio = painter->device()->devicePixelRatioF();
    const QPixmap pixmap = iconPixmap(name, size, color, ratio);
    painter->save();
    painter->translate(rect.center());
    if (turned != 0) {
        painter->setRenderHint(QPainter::SmoothPixmapTransform);
        painter->rotate(turned);
        painter->drawPixmap(QPointF(-size / 2.0, -size / 2.0), pixmap);
    } else {
        // On whole pixels, so that strokes stay crisp.
        const QPointF corner = rect.center() - QPointF(size / 2.0, size / 2.0);
        painter->drawPixmap(QPointF(qRound(corner.x()), qRound(corner.y())) - rect.center(), pixmap);
    }
    painter->restore();
}

} // namespace parallax::ui
