// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/chart.h"

#include <qcustomplot.h>

namespace parallax::ui {

/// At most about 6 labels, written by formatAxis; logarithmic axes get 1-2-5 steps over decades.
class NumberTicker : public QCPAxisTicker
{
public:
    explicit NumberTicker(int count) { setTickCount(count); }
    void setLogarithmic(bool on) { m_logarithmic = on; }
    void generate(const QCPRange &range, const QLocale &locale, QChar formatChar, int precision, QVector<double> &ticks,
                  QVector<double> *subTicks, QVector<QString> *labels) override;

protected:
    double getTickStep(const QCPRange &range) override;

private:
    bool m_logarithmic = false;
};

/// The ticker for the x axis of that scale.
QSharedPointer<QCPAxisTicker> makeXTicker(XScale scale, int count);
/// The x value as one reads it beside the cursor: "step 5,148", "12:40", "14:31:05".
QString cursorText(XScale scale, double x);

} // namespace parallax::ui
