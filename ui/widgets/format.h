// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/runs/runrecord.h"
#include "ui/widgets/theme.h"

#include <QPainter>
#include <QRectF>
#include <QString>

namespace parallax::ui {

// Numbers for the screen, in the person's locale; files are written through core/base/text. Not finite: "–".
QString formatCount(double value);                 ///< "8,612"
QString formatFixed(double value, int decimals);   ///< "0.8706"
QString formatMetric(double value);                ///< about four figures: "2.309", "0.0752", "3,912"
QString formatAxis(double value, double step);     ///< "8k", "0.88", with the decimals that `step` asks for
QString formatPercent(double share, int decimals); ///< 0.018: "1.8 %"
QString formatDuration(double seconds);            ///< "1:12:08", "23:41"
QString formatRoughly(double seconds);             ///< "40 min", "2 h 10 min", "25 s"
QString formatMegabytes(double mb);                ///< "6.31 GB", "812 MB"
QString formatBytes(double bytes);                 ///< "412 GB"
/// "3 / 12", in this order also in digits that a line of text would turn round.
QString formatOf(double done, double all);
QString formatMoment(double secondsSince1970);                           ///< "today 14:07", "3 Nov 14:07"
QString formatClock(double secondsSince1970, bool milliseconds = false); ///< "14:30:52.118"

/// Text drawn with every digit as wide as the widest, so that figures stand under each other and do not tremble as they
/// change. Alignment: Qt::AlignLeft, AlignRight or AlignHCenter; always centred on the height.
void drawTabular(QPainter *painter, const QRectF &rect, const QString &text, Qt::Alignment align = Qt::AlignRight);
double tabularWidth(const QFontMetricsF &metrics, const QString &text);

/// How a run's state looks everywhere: an icon of its own shape, so that colour never speaks alone.
struct StateLook {
    QString icon, label;
    Token color, soft; ///< text and icon; fill of a pill
    QString tone;      ///< property "tone" of a progress bar
};
StateLook stateLook(runs::State state);

/// Sets a property that the style sheet asks for and polishes the widget again.
void setStyleProperty(QWidget *widget, const char *name, const QVariant &value);

} // namespace parallax::ui
