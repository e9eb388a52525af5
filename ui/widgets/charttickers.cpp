// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/charttickers.h"

#include "ui/widgets/format.h"

#include <cmath>

namespace parallax::ui {
namespace {

class ElapsedTicker : public QCPAxisTickerTime
{
public:
    ElapsedTicker() { setTimeFormat(QStringLiteral("%h:%m:%s")); }

protected:
    QString getTickLabel(double tick, const QLocale &, QChar, int) override { return formatDuration(tick); }
};

class ClockTicker : public QCPAxisTickerDateTime
{
public:
    void generate(const QCPRange &range, const QLocale &locale, QChar formatChar, int precision, QVector<double> &ticks,
                  QVector<double> *subTicks, QVector<QString> *labels) override
    {
        const double span = range.size();
        setDateTimeFormat(span < 300             ? QStringLiteral("HH:mm:ss")
                              : span < 2 * 86400 ? QStringLiteral("HH:mm")
                                                 : QStringLiteral("d MMM"));
        QCPAxisTickerDateTime::generate(range, locale, formatChar, precision, ticks, subTicks, labels);
    }
};

} // namespace

void NumberTicker::generate(const QCPRange &range, const QLocale &locale, QChar formatChar, int precision,
                            QVector<double> &ticks, QVector<double> *subTicks, QVector<QString> *labels)
{
    const double decades = m_logarithmic && range.lower > 0 ? std::log10(range.upper / range.lower) : 0;
    if (decades < 1) {
        QCPAxisTicker::generate(range, locale, formatChar, precision, ticks, subTicks, nullptr);
        // A clean tick vector may begin or end outside of the range.
        const double step = ticks.size() > 1 ? ticks.at(1) - ticks.at(0) : range.size();
        if (labels) {
            labels->clear();
            for (const double tick : ticks) labels->append(formatAxis(tick, step));
        }
        return;
    }
    ticks.clear();
    if (subTicks) subTicks->clear();
    if (labels) labels->clear();
    const int first = int(std::floor(std::log10(range.lower))), last = int(std::ceil(std::log10(range.upper)));
    const int stride = std::max(1, int(std::ceil(decades / tickCount())));
    for (int exponent = first; exponent <= last; exponent += stride) {
        const double decade = std::pow(10.0, exponent);
        for (const int mantissa : {1, 2, 5}) {
            if (mantissa > 1 && decades > 2) break;
            const double tick = decade * mantissa;
            if (!range.contains(tick)) continue;
            ticks.append(tick);
            if (labels) labels->append(formatAxis(tick, tick));
        }
    }
}

double NumberTicker::getTickStep(const QCPRange &range)
{
    // 1, 2, 5 only: steps and epochs are counted, 2.5 of them would be none.
    const double exact = range.size() / (tickCount() + 1e-10), size = std::pow(10.0, std::floor(std::log10(exact)));
    return pickClosest(exact / size, {1, 2, 5, 10}) * size;
}

QSharedPointer<QCPAxisTicker> makeXTicker(XScale scale, int count)
{
    QSharedPointer<QCPAxisTicker> ticker;
    if (scale == XScale::Elapsed)
        ticker.reset(new ElapsedTicker);
    else if (scale == XScale::Clock)
        ticker.reset(new ClockTicker);
    else
        ticker.reset(new NumberTicker(count));
    ticker->setTickCount(count);
    return ticker;
}

QString cursorText(XScale scale, double x)
{
    switch (scale) {
    case XScale::Elapsed: return formatDuration(x);
    case XScale::Clock: return formatClock(x);
    case XScale::Number: break;
    }
    return std::abs(x - std::round(x)) < 1e-6 ? formatCount(x) : formatFixed(x, 2);
}

} // namespace parallax::ui
