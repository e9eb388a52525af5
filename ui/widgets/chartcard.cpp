// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chartcard.h"

#include "ui/widgets/format.h"

#include <QPainter>
#include <QVBoxLayout>

#include <cmath>

namespace parallax::ui {
namespace {
constexpr double sample = 18, gap = 5, between = 12; ///< px
}

ChartLegend::ChartLegend(Chart *chart, QWidget *parent) : QWidget(parent), m_chart(chart)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    connect(chart, &Chart::valuesChanged, this, [this] {
        updateGeometry();
        update();
    });
}

std::vector<ChartLegend::Entry> ChartLegend::entries() const
{
    std::vector<Entry> result;
    for (std::size_t i = 0; i < m_chart->series().size(); ++i) {
        const ChartSeries &series = m_chart->series()[i];
        result.push_back({series.name, m_chart->valueText(m_chart->shownValue(i)),
                          series.ink ? color(*series.ink) : Theme::instance().series(series.color), series.style});
    }
    return result;
}

QSize ChartLegend::sizeHint() const
{
    const QFontMetricsF names(textFont(TextRole::Caption)), values(textFont(TextRole::CardTitle));
    double width = 0;
    for (const Entry &entry : entries())
        width += sample + gap + names.horizontalAdvance(entry.name) + gap + tabularWidth(values, entry.value) + between;
    return {int(std::ceil(width)), Theme::instance().scaled(20)};
}

void ChartLegend::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QFont valueFont = textFont(TextRole::Caption);
    valueFont.setWeight(QFont::DemiBold);
    const QFontMetricsF names(textFont(TextRole::Caption)), values(valueFont);
    const std::vector<Entry> all = entries();
    // From the right; what has no room at the left goes, the last lines stay.
    double right = width() - 4;
    for (auto entry = all.rbegin(); entry != all.rend(); ++entry) {
        const double valueWidth = tabularWidth(values, entry->value), nameWidth = names.horizontalAdvance(entry->name);
        const double left = right - (sample + gap + nameWidth + gap + valueWidth);
        if (left < 0) return;
        painter.setPen(linePen(entry->color, 2, entry->style));
        painter.drawLine(QPointF(left, height() / 2.0), QPointF(left + sample, height() / 2.0));
        painter.setFont(textFont(TextRole::Caption));
        painter.setPen(color(Token::TextSecondary));
        painter.drawText(QRectF(left + sample + gap, 0, nameWidth + 2, height()), Qt::AlignVCenter, entry->name);
        painter.setFont(valueFont);
        painter.setPen(color(Token::Text));
        drawTabular(&painter, QRectF(right - valueWidth, 0, valueWidth, height()), entry->value, Qt::AlignRight);
        right = left - between;
    }
}

ChartCard::ChartCard(const QString &title, const QString &unit, QWidget *parent)
    : Card(title, unit, parent), m_chart(new Chart(this))
{
    setFlush();
    addHeadWidget(new ChartLegend(m_chart, this));
    body()->addWidget(m_chart);
    body()->setContentsMargins(1, 0, 1, 2);
    m_chart->setAccessibleName(title);
}

} // namespace parallax::ui
