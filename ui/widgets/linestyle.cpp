// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/linestyle.h"

#include <algorithm>
#include <array>

namespace parallax::ui {

LineStyle lineStyle(int series)
{
    constexpr int styles = 5, colors = 10;
    const int index = std::max(0, series);
    return LineStyle((index + index / colors) % styles);
}

QPen linePen(const QColor &ink, double width, LineStyle style)
{
    QPen pen(ink, width, Qt::SolidLine, style == LineStyle::Dotted ? Qt::RoundCap : Qt::FlatCap, Qt::RoundJoin);
    const std::array<QList<qreal>, 5> pixels{{{}, {6, 3}, {7, 3, 1.5, 3}, {0.5, 4}, {11, 4}}};
    QList<qreal> pattern = pixels[std::size_t(style)];
    for (qreal &length : pattern) length /= width;
    if (!pattern.isEmpty()) pen.setDashPattern(pattern);
    return pen;
}

} // namespace parallax::ui
