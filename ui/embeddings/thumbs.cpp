// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/thumbs.h"

#include "ui/widgets/background.h"
#include "ui/widgets/icons.h"

#include <QImageReader>
#include <QPainter>
#include <QPainterPath>

namespace parallax::embeddings {
namespace {

/// 24 atlases of 1,024 tiles of 48 px are some 220 MB: enough for 24,000 images on screen without reading again.
constexpr std::size_t largestCache = 24;

struct Read {
    QImage image;
    QString reason;
};

Read readAtlas(const QString &file)
{
    QImageReader reader(file);
    reader.setDecideFormatFromContent(true);
    Read result;
    result.image = reader.read();
    if (result.image.isNull())
        result.reason = reader.errorString();
    else
        result.image = result.image.convertToFormat(QImage::Format_RGB32);
    return result;
}

} // namespace

void Thumbs::setData(std::shared_ptr<const MapData> data)
{
    m_data = std::move(data);
    m_atlases.clear();
    m_missing.clear();
    m_reading.clear();
    m_problem.clear();
    if (m_data && m_data->count() > 0 && m_data->store.meta().thumbsPerFile == 0)
        m_problem = tr("These embeddings were stored without thumbnails.");
    Q_EMIT problemChanged();
}

QImage Thumbs::tile(std::int64_t item)
{
    if (!m_data || item < 0 || item >= m_data->count() || m_data->store.meta().thumbsPerFile == 0) return {};
    const auto file = QString::fromStdString(m_data->store.thumbFile(item).string());
    for (auto it = m_atlases.begin(); it != m_atlases.end(); ++it) {
        if (it->file != file) continue;
        m_atlases.splice(m_atlases.begin(), m_atlases, it);
        const auto [x, y] = m_data->store.thumbOrigin(item);
        const int size = m_data->store.meta().thumbSize;
        if (!it->image.rect().contains(QRect(x, y, size, size))) return {}; // a cut atlas
        return it->image.copy(x, y, size, size);
    }
    if (!m_missing.contains(file)) request(file);
    return {};
}

void Thumbs::request(const QString &file)
{
    if (m_reading.contains(file)) return;
    m_reading.insert(file);
    ui::inBackground(
        this, [file] { return readAtlas(file); },
        [this, file, data = m_data](const Read &read) {
            if (data == m_data) take(file, read.image, read.reason);
        });
}

void Thumbs::take(const QString &file, const QImage &image, const QString &reason)
{
    m_reading.remove(file);
    if (image.isNull()) {
        m_missing.insert(file);
        m_problem = tr("Thumbnails cannot be read: %1: %2").arg(file, reason);
        Q_EMIT problemChanged();
    } else {
        m_atlases.push_front({file, image});
        if (m_atlases.size() > largestCache) m_atlases.pop_back();
    }
    Q_EMIT arrived();
}

void Thumbs::paint(QPainter *painter, const QRectF &rect, std::int64_t item, double radius)
{
    painter->save();
    painter->setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
    QPainterPath shape;
    shape.addRoundedRect(rect, radius, radius);
    const QImage image = tile(item);
    if (image.isNull()) {
        painter->fillPath(shape, ui::color(ui::Token::Hover));
        ui::drawIcon(painter, rect, QStringLiteral("image"), int(qMin(16.0, rect.width() / 2)),
                     ui::color(ui::Token::TextMuted));
    } else {
        painter->setClipPath(shape);
        painter->drawImage(rect, image);
    }
    painter->restore();
}

} // namespace parallax::embeddings
