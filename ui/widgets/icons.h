// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/theme.h"

#include <QIcon>
#include <QPixmap>

namespace parallax::ui {

/// The icon resources/icons/<name>.svg, drawn in `normal`; disabled in textDisabled, on or active in accentText when
/// `lit`. Follows the theme: a QIcon made once stays right.
QIcon icon(const QString &name, Token normal = Token::TextSecondary, bool lit = false);
/// The same as pixels, for delegates and painted widgets; cached.
QPixmap iconPixmap(const QString &name, int size, const QColor &color, double ratio);
/// Draws an icon of `size` px into the middle of `rect`.
void drawIcon(QPainter *painter, const QRectF &rect, const QString &name, int size, const QColor &color, double turned = 0);

} // namespace parallax::ui
