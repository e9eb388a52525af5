// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/format.h"

#include "core/base/text.h"

#include <QDateTime>
#include <QFontMetricsF>
#include <QLocale>
#include <QStyle>
#include <QWidget>

#include <algorithm>
#include <cmath>

namespace parallax::ui {
namespace {

const QString none = QStringLiteral("–");

/// Clocks and spans are put together from figures: in the digits that all other numbers on the screen have.
QString localDigits(QString text)
{
    const QString zero = QLocale().zeroDigit();
    if (zero.size() != 1 || zero == QLatin1String("0")) return text;
    for (QChar &c : text)
        if (c >= QLatin1Char('0') && c <= QLatin1Char('9')) c = QChar(char16_t(zero[0].unicode() + c.unicode() - u'0'));
    return text;
}

double widestDigit(const QFontMetricsF &metrics)
{
    double widest = 0;
    const QString ascii = QStringLiteral("0123456789");
    for (const QChar digit : ascii + localDigits(ascii)) widest = std::max(widest, metrics.horizontalAdvance(digit));
    return widest;
}

double advance(const QFontMetricsF &metrics, QChar c, double digit)
{
    return c.isDigit() ? digit : metrics.horizontalAdvance(c);
}

} // namespace

QString formatCount(double value) { return std::isfinite(value) ? QLocale().toString(qint64(std::llround(value))) : none; }

QString formatFixed(double value, int decimals)
{
    return std::isfinite(value) ? QLocale().toString(value, 'f', decimals) : none;
}

QString formatMetric(double value)
{
    if (!std::isfinite(value)) return none;
    const double size = std::abs(value);
    if (size == 0) return QLocale().toString(0);
    if (size < 1e-4 || size >= 1e7) return QLocale().toString(value, 'e', 2);
    return formatFixed(value, size < 1 ? 4 : std::clamp(3 - int(std::floor(std::log10(size))), 0, 3));
}

QString formatAxis(double value, double step)
{
    if (!std::isfinite(value)) return none;
    if (std::abs(value) < step * 1e-6) return QLocale().toString(0);
    const double largest = std::max(std::abs(value), step);
    if (largest >= 1e15 || (value != 0 && std::abs(value) < 1e-5)) return QLocale().toString(value, 'g', 3);
    struct Unit {
        double size;
        QLatin1String sign;
    };
    for (const Unit unit : {Unit{1e9, QLatin1String("G")}, Unit{1e6, QLatin1String("M")}, Unit{1e3, QLatin1String("k")}}) {
        // "2k" where thousands are whole enough; 1,500 stays as it is beside 500.
        if (step < unit.size * 0.0999 || std::abs(value) < unit.size) continue;
        const double scaled = value / unit.size, scaledStep = step / unit.size;
        const bool whole = std::abs(scaledStep - std::round(scaledStep)) < 1e-9;
        return QLocale().toString(scaled, 'f', whole ? 0 : 1) + unit.sign;
    }
    const int decimals = std::clamp(int(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
    // 0.25 steps need one more figure than their size says.
    const double shifted = step * std::pow(10.0, decimals);
    const int more = std::abs(shifted - std::round(shifted)) > 1e-6 ? 1 : 0;
    return QLocale().toString(value, 'f', decimals + more);
}

QString formatPercent(double share, int decimals)
{
    return std::isfinite(share) ? QLocale().toString(share * 100, 'f', decimals) + QStringLiteral(" %") : none;
}

QString formatDuration(double seconds)
{
    return std::isfinite(seconds) ? localDigits(QString::fromStdString(text::duration(std::max(0.0, seconds)))) : none;
}

QString formatRoughly(double seconds)
{
    if (!std::isfinite(seconds)) return none;
    seconds = std::max(0.0, seconds);
    if (seconds < 90) return QStringLiteral("%L1 s").arg(std::lround(seconds));
    const long minutes = std::lround(seconds / 60);
    if (minutes < 90) return QStringLiteral("%L1 min").arg(minutes);
    if (minutes < 48 * 60) return QStringLiteral("%L1 h %L2 min").arg(minutes / 60).arg(minutes % 60);
    return QStringLiteral("%L1 days").arg(minutes / (24 * 60));
}

QString formatMegabytes(double mb)
{
    if (!std::isfinite(mb)) return none;
    return mb >= 1000 ? QLocale().toString(mb / 1000, 'f', 2) + QStringLiteral(" GB")
                      : QLocale().toString(mb, 'f', 0) + QStringLiteral(" MB");
}

QString formatBytes(double bytes)
{
    if (!std::isfinite(bytes)) return none;
    if (bytes >= 1e10) return QLocale().toString(bytes / 1e9, 'f', 0) + QStringLiteral(" GB");
    if (bytes >= 1e9) return QLocale().toString(bytes / 1e9, 'f', 1) + QStringLiteral(" GB");
    return QLocale().toString(bytes / 1e6, 'f', 0) + QStringLiteral(" MB");
}

QString formatOf(double done, double all)
{
    const QString slash = QStringLiteral(" / "), mark = QString(QChar(0x200e)); // left-to-right
    const bool turned = QLocale().zeroDigit() != QLatin1String("0");
    return formatCount(done) + (turned ? mark + slash + mark : slash) + formatCount(all);
}

QString formatMoment(double secondsSince1970)
{
    if (!(secondsSince1970 > 0) || !std::isfinite(secondsSince1970)) return none;
    const QDateTime moment = QDateTime::fromMSecsSinceEpoch(qint64(secondsSince1970 * 1000));
    const QString clock = localDigits(moment.toString(QStringLiteral("HH:mm")));
    const qint64 days = moment.date().daysTo(QDate::currentDate());
    if (days == 0) return QStringLiteral("today ") + clock;
    if (days == 1) return QStringLiteral("yesterday ") + clock;
    const bool thisYear = moment.date().year() == QDate::currentDate().year();
    return QLocale().toString(moment.date(), thisYear ? QStringLiteral("d MMM ") : QStringLiteral("d MMM yyyy ")) + clock;
}

QString formatClock(double secondsSince1970, bool milliseconds)
{
    if (!(secondsSince1970 > 0) || !std::isfinite(secondsSince1970)) return none;
    return localDigits(QDateTime::fromMSecsSinceEpoch(qint64(secondsSince1970 * 1000))
                           .toString(milliseconds ? QStringLiteral("HH:mm:ss.zzz") : QStringLiteral("HH:mm:ss")));
}

double tabularWidth(const QFontMetricsF &metrics, const QString &text)
{
    const double digit = widestDigit(metrics);
    double width = 0;
    for (const QChar c : text) width += advance(metrics, c, digit);
    return width;
}

void drawTabular(QPainter *painter, const QRectF &rect, const QString &text, Qt::Alignment align)
{
    const QFontMetricsF metrics(painter->font());
    const double digit = widestDigit(metrics), width = tabularWidth(metrics, text);
    double x = rect.left();
    if (align & Qt::AlignRight) x = rect.right() - width;
    if (align & Qt::AlignHCenter) x = rect.center().x() - width / 2;
    const double baseline = rect.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    QString word; // letters go together, so that their shapes and kerning stay
    double wordAt = x;
    auto flush = [&] {
        if (!word.isEmpty()) painter->drawText(QPointF(wordAt, baseline), word);
        word.clear();
    };
    for (const QChar c : text) {
        const double wide = advance(metrics, c, digit);
        if (c.isDigit()) {
            flush();
            painter->drawText(QPointF(x + (wide - metrics.horizontalAdvance(c)) / 2, baseline), QString(c));
        } else {
            if (word.isEmpty()) wordAt = x;
            word += c;
        }
        x += wide;
    }
    flush();
}

StateLook stateLook(runs::State state)
{
    const auto text = [](const char *s) { return QString::fromLatin1(s); };
    switch (state) {
    case runs::State::Queued:
        return {text("queued"), text("Queued"), Token::TextSecondary, Token::NeutralSoft, text("paused")};
    case runs::State::Running: return {text("running"), text("Running"), Token::AccentText, Token::AccentSoft, text("")};
    case runs::State::Paused:
        return {text("paused"), text("Paused"), Token::TextSecondary, Token::NeutralSoft, text("paused")};
    case runs::State::Finished: return {text("finished"), text("Finished"), Token::Ok, Token::OkSoft, text("ok")};
    case runs::State::Failed: return {text("failed"), text("Failed"), Token::Error, Token::ErrorSoft, text("error")};
    case runs::State::Interrupted:
        return {text("interrupted"), text("Interrupted"), Token::Interrupted, Token::InterruptedSoft, text("interrupted")};
    }
    return {text("info"), text("Unknown"), Token::TextMuted, Token::NeutralSoft, text("paused")};
}

void setStyleProperty(QWidget *widget, const char *name, const QVariant &value)
{
    if (widget->property(name) == value) return;
    widget->setProperty(name, value);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
    widget->update();
}

} // namespace parallax::ui
