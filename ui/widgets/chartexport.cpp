// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// The part of Chart that writes what it shows into files.
#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "ui/widgets/chart.h"
#include "ui/widgets/format.h"

#include <QBuffer>
#include <QFileInfo>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>

#include <qcustomplot.h>

#include <cmath>

namespace parallax::ui {
namespace {

constexpr int headHeight = 28;    ///< px, above the plot
constexpr int pixelsPerInch = 96; ///< of a drawing: one unit is one pixel of the screen

/// A field of RFC 4180.
std::string field(const QString &text)
{
    QString quoted = text;
    quoted.replace(QLatin1Char('"'), QStringLiteral("\"\""));
    return (QLatin1Char('"') + quoted + QLatin1Char('"')).toStdString();
}

} // namespace

std::string Chart::csv(const std::string &xName, bool visibleOnly) const
{
    const auto [from, to] = xRange();
    std::string table = "series," + xName + ",value\r\n";
    for (const ChartSeries &series : m_series) {
        const std::string name = field(series.name) + ',';
        for (std::size_t i = 0; i < series.x.size(); ++i) {
            if (visibleOnly && (series.x[i] < from || series.x[i] > to)) continue;
            table += name + text::number(series.x[i]) + ',' + text::number(series.y[i]) + "\r\n";
        }
    }
    return table;
}

Status Chart::savePicture(const QString &file, const QString &title)
{
    flush();
    const QSize plot = m_plot->size().expandedTo({320, 200}), all(plot.width(), plot.height() + headHeight);
    const auto paint = [&](QPaintDevice *device, double scale, bool vectors) {
        QCPPainter painter;
        if (!painter.begin(device)) return false;
        painter.scale(scale, scale);
        painter.setMode(QCPPainter::pmVectorized, vectors);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.fillRect(QRect(QPoint(), all), color(Token::Panel));
        painter.setFont(textFont(TextRole::CardTitle));
        painter.setPen(color(Token::Text));
        painter.drawText(QRect(12, 0, all.width() / 3, headHeight), Qt::AlignVCenter, title);
        painter.setFont(textFont(TextRole::Caption));
        double right = all.width() - 12;
        for (auto series = m_series.rbegin(); series != m_series.rend(); ++series) {
            const double width = painter.fontMetrics().horizontalAdvance(series->name);
            painter.setPen(color(Token::TextSecondary));
            painter.drawText(QRectF(right - width, 0, width + 2, headHeight), Qt::AlignVCenter, series->name);
            right -= width + 6;
            painter.setPen(linePen(inkOf(*series), 2, series->style));
            painter.drawLine(QPointF(right - 18, headHeight / 2.0), QPointF(right, headHeight / 2.0));
            right -= 18 + 12;
        }
        painter.translate(0, headHeight);
        m_plot->toPainter(&painter, plot.width(), plot.height());
        return painter.end();
    };
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    const QString ending = QFileInfo(file).suffix().toLower();
    bool drawn = false;
    if (ending == QLatin1String("svg")) {
        QSvgGenerator svg;
        svg.setOutputDevice(&buffer);
        svg.setTitle(title);
        svg.setSize(all);
        svg.setViewBox(QRect(QPoint(), all));
        svg.setResolution(pixelsPerInch);
        drawn = paint(&svg, 1, true);
    } else if (ending == QLatin1String("pdf")) {
        QPdfWriter pdf(&buffer);
        pdf.setTitle(title);
        pdf.setResolution(pixelsPerInch);
        pdf.setPageSize(QPageSize(QSizeF(all) / pixelsPerInch, QPageSize::Inch, QString(), QPageSize::ExactMatch));
        pdf.setPageMargins({});
        drawn = paint(&pdf, 1, true);
    } else if (ending == QLatin1String("png")) {
        QImage image(all * 2, QImage::Format_RGB32);
        drawn = paint(&image, 2, false) && image.save(&buffer, "PNG");
    } else {
        return Error{"A picture is PNG, SVG or PDF", file.toStdString(), "End the file's name in .png, .svg or .pdf"};
    }
    flush(); // the plot was laid out for the picture
    if (!drawn) return Error{"The picture could not be drawn", file.toStdString(), "Try another kind of picture"};
    return writeFileAtomic(file.toStdString(), buffer.data().toStdString());
}

} // namespace parallax::ui
