// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QImage>

#include <array>
#include <vector>

namespace parallax::embeddings {

/// Draws many equal round points into an image: a disc's coverage is computed once for each of 4 × 4 places within a pixel,
/// then blended by hand. 60,000 points take a few milliseconds where a painter takes a hundred.
class PointRaster
{
public:
    /// radius in pixels of the image.
    explicit PointRaster(double radius);
    /// Blends one point over `image` (ARGB32_Premultiplied); parts outside are cut off.
    void draw(QImage &image, double x, double y, const QColor &color, double opacity) const;

private:
    static constexpr int phases = 4;
    int m_size;
    std::array<std::vector<unsigned char>, std::size_t(phases *phases)> m_coverage; ///< [m_size²], 0..255
};

} // namespace parallax::embeddings
