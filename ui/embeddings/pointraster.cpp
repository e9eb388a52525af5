// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/pointraster.h"

#include <algorithm>
#include <cmath>

namespace parallax::embeddings {
namespace {

/// value ÷ 255, rounded, for 0 ≤ value ≤ 255²: without a division.
constexpr int over255(int value) { return (value + 128 + ((value + 128) >> 8)) >> 8; }

} // namespace

PointRaster::PointRaster(double radius) : m_size(int(std::ceil(radius)) * 2 + 3)
{
    constexpr int samples = 8;
    for (int py = 0; py < phases; ++py)
        for (int px = 0; px < phases; ++px) {
            auto &mask = m_coverage[std::size_t(py * phases + px)];
            mask.resize(std::size_t(m_size * m_size));
            const double cx = m_size / 2 + (px + 0.5) / phases, cy = m_size / 2 + (py + 0.5) / phases;
            for (int y = 0; y < m_size; ++y)
                for (int x = 0; x < m_size; ++x) {
                    int inside = 0;
                    for (int s = 0; s < samples * samples; ++s) {
                        const double dx = x + (s % samples + 0.5) / samples - cx;
                        const double dy = y + (s / samples + 0.5) / samples - cy;
                        inside += dx * dx + dy * dy <= radius * radius;
                    }
                    mask[std::size_t(y * m_size + x)] = static_cast<unsigned char>(inside * 255 / (samples * samples));
                }
        }
}

void PointRaster::draw(QImage &image, double x, double y, const QColor &color, double opacity) const
{
    const double margin = m_size;
    if (!(x > -margin && y > -margin && x < image.width() + margin && y < image.height() + margin)) return;
    const double fx = std::floor(x), fy = std::floor(y);
    const int px = std::min(phases - 1, int((x - fx) * phases)), py = std::min(phases - 1, int((y - fy) * phases));
    const auto &mask = m_coverage[std::size_t(py * phases + px)];
    const int left = int(fx) - m_size / 2, top = int(fy) - m_size / 2;
    const int alpha = int(opacity * 256 + 0.5);
    const int r = color.red(), g = color.green(), b = color.blue();
    const int fromX = std::max(0, -left), toX = std::min(m_size, image.width() - left);
    for (int row = std::max(0, -top); row < std::min(m_size, image.height() - top); ++row) {
        auto *line = reinterpret_cast<QRgb *>(image.scanLine(top + row)) + left;
        for (int column = fromX; column < toX; ++column) {
            const int a = mask[std::size_t(row * m_size + column)] * alpha >> 8; // 0..255
            if (a == 0) continue;
            const QRgb under = line[column];
            const int rest = 255 - a;
            line[column] = qRgba(over255(r * a + qRed(under) * rest), over255(g * a + qGreen(under) * rest),
                                 over255(b * a + qBlue(under) * rest), a + over255(qAlpha(under) * rest));
        }
    }
}

} // namespace parallax::embeddings
