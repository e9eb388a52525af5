// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/plot.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/session/runname.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace parallax::session {

namespace {

// Sizes in px; colours of the light theme (resources/themes/theme-light.json).
constexpr double panelWidth = 420, panelHeight = 220, marginLeft = 56, marginTop = 64, gap = 72, marginBottom = 44,
                 marginRight = 24;
constexpr char textColour[] = "#1A1E26", mutedColour[] = "#5F6878", gridColour[] = "#ECEEF2", axisColour[] = "#C9CED8";
constexpr char lossColour[] = "#0070C5", knnColour[] = "#17644F";

std::string escaped(const std::string &text)
{
    std::string result;
    for (const char c : text::printable(text)) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else
            result += c;
    }
    return result;
}

std::string px(double value) { return text::fixed(value, 1); }

/// Round numbers over [low, high], about four of them: 1, 2 or 5 times a power of ten apart.
std::vector<double> ticks(double low, double high)
{
    const double rough = (high - low) / 4, power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0})
        if (factor * power >= rough) step = factor * power;
    std::vector<double> values;
    for (double value = std::ceil(low / step) * step; value <= high + step * 1e-9; value += step)
        values.push_back(std::fabs(value) < step * 1e-9 ? 0 : value);
    return values;
}

std::string label(double value, double step)
{
    const int decimals = std::clamp(int(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
    return text::fixed(value, decimals);
}

/// A short run is not smoothed flat: the average reaches over an eighth of the curve, at most over some 30 points.
double smoothingFor(std::size_t points) { return points == 0 ? 0 : std::clamp(1 - 8 / double(points), 0.0, 0.97); }

struct Line {
    std::vector<double> x, y;
    const char *colour;
    double width, opacity;
};

/// One chart: a title, a horizontal grid, lines, and at most one dotted reference.
class Panel
{
public:
    Panel(double left, std::string title, std::string unit)
        : m_left(left), m_title(std::move(title)), m_unit(std::move(unit))
    {
    }
    void add(Line line) { m_lines.push_back(std::move(line)); }
    void setReference(double value, const std::string &name)
    {
        m_reference = value;
        m_referenceName = name;
    }

    std::string svg()
    {
        std::string svg = text(m_left, marginTop - 16, m_title, textColour, 12, "start", true);
        findRange();
        if (!(m_xHigh > m_xLow))
            return svg + text(m_left, marginTop + panelHeight / 2, "nothing yet", mutedColour, 11, "start");
        svg += grid();
        if (std::isfinite(m_reference)) svg += reference();
        for (const Line &line : m_lines) svg += path(line);
        return svg;
    }

private:
    static std::string text(double x, double y, const std::string &content, const char *colour, int size, const char *anchor,
                            bool bold = false)
    {
        return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" fill=\"" + colour + "\" font-size=\"" + std::to_string(size) +
            "\" text-anchor=\"" + anchor + "\"" + (bold ? " font-weight=\"600\"" : "") + ">" + escaped(content) +
            "</text>\n";
    }
    static std::string rule(double x1, double y1, double x2, double y2, const char *colour, const char *dash = "")
    {
        const std::string pattern = *dash ? std::string(" stroke-dasharray=\"") + dash + "\"" : "";
        return "<line x1=\"" + px(x1) + "\" y1=\"" + px(y1) + "\" x2=\"" + px(x2) + "\" y2=\"" + px(y2) + "\" stroke=\"" +
            colour + "\"" + pattern + "/>\n";
    }

    void findRange()
    {
        std::vector<double> values;
        for (const Line &line : m_lines) {
            values.insert(values.end(), line.y.begin(), line.y.end());
            for (const double x : line.x) {
                m_xLow = std::min(m_xLow, x);
                m_xHigh = std::max(m_xHigh, x);
            }
        }
        std::erase_if(values, [](double value) { return !std::isfinite(value); });
        if (values.empty()) {
            m_xHigh = m_xLow;
            return;
        }
        std::tie(m_low, m_high) = metrics::robustRange(values);
        if (std::isfinite(m_reference)) {
            m_low = std::min(m_low, m_reference);
            m_high = std::max(m_high, m_reference);
        }
        if (!(m_high > m_low)) m_high = m_low + 1;
        const double room = 0.05 * (m_high - m_low);
        m_low -= room;
        m_high += room;
    }

    double atX(double x) const { return m_left + panelWidth * (x - m_xLow) / (m_xHigh - m_xLow); }
    double atY(double y) const
    {
        return marginTop + panelHeight * (1 - std::clamp((y - m_low) / (m_high - m_low), 0.0, 1.0));
    }

    std::string grid() const
    {
        std::string svg;
        const double bottom = marginTop + panelHeight;
        const auto rows = ticks(m_low, m_high), columns = ticks(m_xLow, m_xHigh);
        for (const double value : rows) {
            const double step = rows.size() > 1 ? rows[1] - rows[0] : 1;
            svg += rule(m_left, atY(value), m_left + panelWidth, atY(value), gridColour);
            svg += text(m_left - 8, atY(value) + 4, label(value, step), mutedColour, 11, "end");
        }
        svg += rule(m_left, bottom, m_left + panelWidth, bottom, axisColour);
        for (const double value : columns) {
            const double step = columns.size() > 1 ? columns[1] - columns[0] : 1;
            svg += rule(atX(value), bottom, atX(value), bottom + 4, axisColour);
            svg += text(atX(value), bottom + 17, label(value, step), mutedColour, 11, "middle");
        }
        return svg + text(m_left + panelWidth, bottom + 32, m_unit, mutedColour, 11, "end");
    }

    std::string reference() const
    {
        const double y = atY(m_reference);
        return rule(m_left, y, m_left + panelWidth, y, mutedColour, "1 3") +
            text(m_left + panelWidth, y - 4, m_referenceName, mutedColour, 11, "end");
    }

    std::string path(const Line &line) const
    {
        const auto drawn = metrics::decimate(line.x, line.y, m_xLow, m_xHigh, int(panelWidth));
        std::string points;
        bool open = false;
        for (std::size_t i = 0; i < drawn.x.size(); ++i) {
            if (!std::isfinite(drawn.y[i])) {
                open = false; // a gap
                continue;
            }
            points += (open ? 'L' : 'M') + px(atX(drawn.x[i])) + ' ' + px(atY(drawn.y[i]));
            open = true;
        }
        return "<path d=\"" + points + "\" fill=\"none\" stroke=\"" + line.colour + "\" stroke-width=\"" +
            text::number(line.width) + "\" stroke-opacity=\"" + text::number(line.opacity) +
            "\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n";
    }

    double m_left;
    std::string m_title, m_unit;
    std::vector<Line> m_lines;
    double m_reference = std::numeric_limits<double>::quiet_NaN();
    std::string m_referenceName;
    double m_xLow = std::numeric_limits<double>::infinity(), m_xHigh = -std::numeric_limits<double>::infinity();
    double m_low = 0, m_high = 1;
};

Panel lossPanel(const RunData &data)
{
    Panel panel(marginLeft, "Loss", "step");
    const auto found = data.series.find("loss");
    if (found == data.series.end()) return panel;
    const metrics::Series &loss = found->second;
    panel.add({loss.step, loss.value, lossColour, 1, 0.26});
    panel.add({loss.step, metrics::smooth(loss.value, smoothingFor(loss.size())), lossColour, 1.75, 1});
    const auto chance = data.plan.find("chance_loss");
    if (chance != data.plan.end() && chance->is_number()) panel.setReference(chance->get<double>(), "chance");
    return panel;
}

Panel knnPanel(const RunData &data)
{
    Panel panel(marginLeft + panelWidth + gap, "kNN accuracy", "epoch");
    const auto found = data.series.find("knn_top1");
    if (found == data.series.end() || found->second.size() == 0) return panel;
    const metrics::Series &knn = found->second;
    panel.add({knn.epoch, knn.value, knnColour, 1.75, 1});
    if (knn.step.front() == 0) panel.setReference(knn.value.front(), "untrained");
    return panel;
}

} // namespace

std::string plotSvg(const RunData &data, const std::string &title)
{
    const double width = marginLeft + 2 * panelWidth + gap + marginRight, height = marginTop + panelHeight + marginBottom;
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + px(width) + "\" height=\"" + px(height) +
        "\" viewBox=\"0 0 " + px(width) + ' ' + px(height) + "\" font-family=\"Inter, sans-serif\">\n";
    svg += "<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n";
    svg += "<text x=\"" + px(marginLeft) + "\" y=\"24\" fill=\"" + textColour + "\" font-size=\"14\" font-weight=\"600\">" +
        escaped(title) + "</text>\n";
    return svg + lossPanel(data).svg() + knnPanel(data).svg() + "</svg>\n";
}

Status writePlots(const runs::RunFolder &folder)
{
    const RunData data = readRun(folder);
    std::string name = data.record.name;
    if (name.empty()) name = defaultRunName(data.config).toStdString();
    return writeFileAtomic(folder.plots(), plotSvg(data, name.empty() ? folder.name() : name));
}

} // namespace parallax::session
