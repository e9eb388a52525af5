// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/parallaxstyle.h"

#include "ui/widgets/icons.h"

#include <QAbstractButton>
#include <QPainter>
#include <QStyleOption>

namespace parallax::ui {
namespace {

void drawCheckBox(const QStyleOption *option, QPainter *painter)
{
    const bool on = option->state & QStyle::State_On, part = option->state & QStyle::State_NoChange;
    const bool enabled = option->state & QStyle::State_Enabled, focus = option->state & QStyle::State_HasFocus;
    QRectF box = QRectF(0, 0, 16, 16);
    box.moveCenter(QRectF(option->rect).center());
    box.moveTopLeft(QPointF(qRound(box.x()), qRound(box.y())));
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (focus) {
        painter->setPen(QPen(color(Token::AccentLine), 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(box.adjusted(-1.5, -1.5, 1.5, 1.5), 5, 5);
    }
    const bool filled = on || part;
    const QColor fill = !enabled ? color(Token::Sunken) : color(filled ? Token::Accent : Token::Control);
    const QColor line = !enabled ? color(Token::Line) : color(filled ? Token::Accent : Token::InputLine);
    painter->setPen(QPen(line, 1));
    painter->setBrush(fill);
    painter->drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    painter->setPen(
        QPen(color(enabled ? Token::OnAccent : Token::TextDisabled), 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    if (on)
        painter->drawPolyline(QPolygonF(
            {box.topLeft() + QPointF(4.2, 8.3), box.topLeft() + QPointF(7, 11), box.topLeft() + QPointF(11.8, 5.4)}));
    else if (part)
        painter->drawLine(box.topLeft() + QPointF(4.5, 8), box.topLeft() + QPointF(11.5, 8));
    painter->restore();
}

void drawRadio(const QStyleOption *option, QPainter *painter)
{
    const bool on = option->state & QStyle::State_On, enabled = option->state & QStyle::State_Enabled;
    QRectF ring = QRectF(0, 0, 15, 15);
    ring.moveCenter(QRectF(option->rect).center());
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(color(!enabled ? Token::Line : on ? Token::Accent : Token::InputLine), 1));
    painter->setBrush(color(on && enabled ? Token::Accent : Token::Control));
    painter->drawEllipse(ring);
    if (option->state & QStyle::State_HasFocus) {
        painter->setPen(QPen(color(Token::AccentLine), 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawEllipse(ring.adjusted(-2, -2, 2, 2));
    }
    if (on) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(color(enabled ? Token::OnAccent : Token::TextDisabled));
        painter->drawEllipse(ring.center(), 3, 3);
    }
    painter->restore();
}

void drawFocusFrame(const QStyleOption *option, QPainter *painter)
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(color(Token::AccentLine), 1));
    painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    painter->restore();
}

} // namespace

ParallaxStyle::ParallaxStyle() : QProxyStyle(QStringLiteral("Fusion")) { }

void ParallaxStyle::drawPrimitive(PrimitiveElement element, const QStyleOption *option, QPainter *painter,
                                  const QWidget *widget) const
{
    const QRectF rect = option->rect;
    const QColor arrow = color(option->state & State_Enabled ? Token::TextSecondary : Token::TextDisabled);
    switch (element) {
    case PE_IndicatorCheckBox:
    case PE_IndicatorItemViewItemCheck: drawCheckBox(option, painter); return;
    case PE_IndicatorRadioButton: drawRadio(option, painter); return;
    case PE_IndicatorArrowDown: drawIcon(painter, rect, QStringLiteral("down"), 12, arrow); return;
    case PE_IndicatorArrowUp: drawIcon(painter, rect, QStringLiteral("down"), 12, arrow, 180); return;
    case PE_IndicatorArrowRight: drawIcon(painter, rect, QStringLiteral("right"), 12, arrow); return;
    case PE_IndicatorArrowLeft: drawIcon(painter, rect, QStringLiteral("left"), 12, arrow); return;
    case PE_FrameFocusRect:
        // Buttons and boxes show their focus by their own frame.
        if (!qobject_cast<const QAbstractButton *>(widget)) drawFocusFrame(option, painter);
        return;
    case PE_PanelItemViewRow: return; // delegates paint whole rows
    default: QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

int ParallaxStyle::pixelMetric(PixelMetric metric, const QStyleOption *option, const QWidget *widget) const
{
    switch (metric) {
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
    case PM_ExclusiveIndicatorWidth:
    case PM_ExclusiveIndicatorHeight: return 18;
    case PM_CheckBoxLabelSpacing:
    case PM_RadioButtonLabelSpacing: return 8;
    case PM_SmallIconSize:
    case PM_ButtonIconSize: return 16;
    case PM_SplitterWidth: return 8;
    case PM_ScrollBarExtent: return 12;
    case PM_MenuHMargin:
    case PM_MenuVMargin: return 4;
    case PM_DefaultFrameWidth:
        return widget && widget->inherits("QAbstractScrollArea") ? 0 : QProxyStyle::pixelMetric(metric, option, widget);
    case PM_ButtonShiftHorizontal:
    case PM_ButtonShiftVertical: return 0;
    default: return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int ParallaxStyle::styleHint(StyleHint hint, const QStyleOption *option, const QWidget *widget,
                             QStyleHintReturn *returnData) const
{
    switch (hint) {
    case SH_EtchDisabledText: return 0;
    case SH_Menu_MouseTracking: return 1;
    case SH_ItemView_ShowDecorationSelected: return 1;
    case SH_ScrollBar_ContextMenu: return 0;
    case SH_ComboBox_Popup: return 0; // a list below the field, not a menu over it
    case SH_DialogButtonBox_ButtonsHaveIcons: return 0;
    case SH_ToolTip_WakeUpDelay: return 500;
    default: return QProxyStyle::styleHint(hint, option, widget, returnData);
    }
}

} // namespace parallax::ui
