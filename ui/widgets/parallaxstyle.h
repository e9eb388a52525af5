// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProxyStyle>

namespace parallax::ui {

/// Fusion with the program's own focus ring, check boxes, radio buttons, combo and menu arrows, and measures. Frames and
/// fills that a style sheet can say are in parallax.qss.
class ParallaxStyle : public QProxyStyle
{
    Q_OBJECT
public:
    ParallaxStyle();
    void drawPrimitive(PrimitiveElement element, const QStyleOption *option, QPainter *painter,
                       const QWidget *widget) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption *option, const QWidget *widget) const override;
    int styleHint(StyleHint hint, const QStyleOption *option, const QWidget *widget,
                  QStyleHintReturn *returnData) const override;
};

} // namespace parallax::ui
