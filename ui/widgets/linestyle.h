// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPen>

namespace parallax::ui {

/// Tells lines apart where colour cannot: in print, for colour-blind eyes, with more lines than colours.
enum class LineStyle { Solid, Dashed, DashDotted, Dotted, LongDashed };

/// The style beside categorical colour `series`: five of them, shifted by one with each round of the palette, so that equal
/// colours never share a style.
LineStyle lineStyle(int series);
/// A pen for curves: round joins; dashes are as long in pixels whatever its width.
QPen linePen(const QColor &ink, double width, LineStyle style = LineStyle::Solid);

} // namespace parallax::ui
