// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/chartcatalogue.h"

#include "core/base/text.h"
#include "core/session/qtconvert.h"
#include "ui/widgets/format.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace parallax::ui {

using session::RunData;
using session::RunSummary;

namespace {

QString tr(const char *text) { return QCoreApplication::translate("ChartCatalogue", text); }

struct Source {
    const RunData &data;
    const RunSummary &run;
    XMode mode;
    std::optional<ChartSeries> line(const char *name, double factor = 1) const { return lineOf(data, name, mode, factor); }
    std::vector<ChartSeries> ranks(const std::string &name, double factor = 1) const
    {
        return rankLines(data, name, mode, factor);
    }
};

/// One line for the whole run under its own caption.
void addLine(ChartContent &chart, std::optional<ChartSeries> line, const QString &name)
{
    if (!line) return;
    line->name = name;
    chart.series.push_back(std::move(*line));
}

void fillLoss(ChartContent &chart, const Source &from)
{
    addLine(chart, from.line("loss"), tr("train"));
    const double chance = planned(from.data, "chance_loss");
    if (std::isfinite(chance)) chart.references.push_back({chance, tr("chance %1").arg(formatMetric(chance)), true});
    chart.subtitle = from.run.method;
    chart.checkpoints = true;
}

void fillKnn(ChartContent &chart, const Source &from)
{
    addLine(chart, from.line("knn_top1"), tr("top 1"));
    addLine(chart, from.line("knn_top5"), tr("top 5"));
    for (ChartSeries &line : chart.series) line.smooth = false;
    chart.decimals = 4;
    chart.checkpoints = true;
    if (chart.series.empty()) return;
    chart.series.front().dots = true;
    if (chart.series.size() > 1) {
        chart.series[1].color = 1;
        chart.series[1].style = LineStyle::Dashed;
    }
    const double classes = lastOf(from.data, "classes"), k = lastOf(from.data, "k");
    QStringList parts;
    if (std::isfinite(k)) parts << tr("k %1").arg(formatCount(k));
    if (classes > 0) {
        parts << tr("%1 classes, chance %2").arg(formatCount(classes), formatFixed(1 / classes, 2));
        chart.references.push_back({1 / classes, tr("chance %1").arg(formatFixed(1 / classes, 2)), true});
    }
    chart.subtitle = parts.join(QStringLiteral(", "));
    if (std::isfinite(from.run.untrainedKnn))
        chart.references.push_back({from.run.untrainedKnn, tr("untrained %1").arg(formatFixed(from.run.untrainedKnn, 4))});
}

void fillMemory(ChartContent &chart, const Source &from)
{
    constexpr double toGb = 1e-3;
    const bool gpu = onGpu(from.data);
    chart.series = from.ranks(gpu ? "allocated_mb" : "rss_mb", toGb);
    if (gpu) {
        std::vector<ChartSeries> reserved = from.ranks("reserved_mb", toGb);
        if (!reserved.empty()) {
            // One line for what the allocator holds: the rank that holds most.
            auto most = std::max_element(reserved.begin(), reserved.end(), [](const ChartSeries &a, const ChartSeries &b) {
                return (a.y.empty() ? 0 : a.y.back()) < (b.y.empty() ? 0 : b.y.back());
            });
            most->name = tr("reserved");
            most->ink = Token::TextMuted;
            most->style = LineStyle::Dashed;
            chart.series.push_back(std::move(*most));
        }
        const double total = lastOf(from.data, "device_total_mb/r0") * toGb;
        if (std::isfinite(total))
            chart.references.push_back({total, tr("device has %1 GB").arg(formatFixed(total, 1)), true});
    }
    for (ChartSeries &line : chart.series) line.smooth = false;
    chart.title = gpu ? tr("GPU memory") : tr("Memory");
    chart.subtitle = gpu ? tr("GB") : tr("resident, GB");
    chart.decimals = 2;
    chart.fromZero = true;
}

void fillThroughput(ChartContent &chart, const Source &from)
{
    const int world = from.run.record.world;
    addLine(chart, from.line("images_per_s"), world == 1 ? tr("rank 0") : world == 2 ? tr("both ranks") : tr("all ranks"));
    for (ChartSeries &line : chart.series) line.fill = true;
    chart.subtitle = tr("images / s");
    chart.decimals = 0;
    chart.fromZero = true;
}

void fillStepTime(ChartContent &chart, const Source &from)
{
    chart.series = from.ranks("step_ms");
    const std::optional<int> slowest = slowestRank(from.data);
    for (ChartSeries &line : chart.series)
        if (slowest && line.color == *slowest)
            line.name = tr("%1, slowest").arg(line.name); // colours are those of the ranks
    chart.subtitle = tr("ms");
    chart.decimals = 0;
    chart.fromZero = true;
}

void fillHealth(ChartContent &chart, const Source &from)
{
    addLine(chart, from.line("feature_std"), tr("std"));
    chart.subtitle = tr("feature std, 0 is collapse");
    chart.decimals = 4;
    chart.fromZero = true;
}

void fillDataWait(ChartContent &chart, const Source &from)
{
    addLine(chart, from.line("data_wait", 100), tr("waiting"));
    chart.subtitle = tr("% of step time");
    chart.decimals = 1;
    chart.fromZero = true;
}

void fillRate(ChartContent &chart, const Source &from)
{
    addLine(chart, from.line("lr"), tr("rate"));
    for (ChartSeries &line : chart.series) line.smooth = false;
    chart.fromZero = true;
}

void fillGradient(ChartContent &chart, const Source &from)
{
    addLine(chart, from.line("grad_norm"), tr("norm"));
    chart.subtitle = tr("norm before clipping");
    chart.fromZero = true;
}

void fillSpread(ChartContent &chart, const Source &from)
{
    addLine(chart, from.line("feature_spread"), tr("spread"));
    addLine(chart, from.line("mean_cosine"), tr("mean cosine"));
    addLine(chart, from.line("alignment"), tr("alignment"));
    addLine(chart, from.line("uniformity"), tr("uniformity"));
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        chart.series[i].color = int(i);
        chart.series[i].smooth = false;
    }
    chart.subtitle = tr("of evaluated images");
    chart.decimals = 3;
}

struct Standard {
    const char *id, *title;
    bool atFirst;
    void (*fill)(ChartContent &, const Source &);
    std::vector<std::string> figures; ///< what it holds: these are no charts of their own
};

const std::vector<Standard> &standards()
{
    static const std::vector<Standard> all{
        {"loss", QT_TRANSLATE_NOOP("ChartCatalogue", "Loss"), true, fillLoss, {"loss"}},
        {"knn", QT_TRANSLATE_NOOP("ChartCatalogue", "kNN accuracy"), true, fillKnn, {"knn_top1", "knn_top5"}},
        {"memory",
         QT_TRANSLATE_NOOP("ChartCatalogue", "Memory"),
         true,
         fillMemory,
         {"allocated_mb", "reserved_mb", "device_total_mb", "rss_mb"}},
        {"throughput", QT_TRANSLATE_NOOP("ChartCatalogue", "Throughput"), true, fillThroughput, {"images_per_s"}},
        {"step_time", QT_TRANSLATE_NOOP("ChartCatalogue", "Step time"), true, fillStepTime, {"step_ms"}},
        {"health", QT_TRANSLATE_NOOP("ChartCatalogue", "Health"), true, fillHealth, {"feature_std"}},
        {"data_wait", QT_TRANSLATE_NOOP("ChartCatalogue", "Data wait"), false, fillDataWait, {"data_wait"}},
        {"lr", QT_TRANSLATE_NOOP("ChartCatalogue", "Learning rate"), false, fillRate, {"lr"}},
        {"grad_norm", QT_TRANSLATE_NOOP("ChartCatalogue", "Gradient"), false, fillGradient, {"grad_norm"}},
        {"features",
         QT_TRANSLATE_NOOP("ChartCatalogue", "Feature quality"),
         false,
         fillSpread,
         {"feature_spread", "mean_cosine", "alignment", "uniformity"}},
    };
    return all;
}

const Standard *find(const QString &chart)
{
    const auto found =
        std::ranges::find_if(standards(), [&](const Standard &each) { return chart == QLatin1String(each.id); });
    return found == standards().end() ? nullptr : &*found;
}

/// Facts about an evaluation rather than results of the run.
bool isSetting(const std::string &figure)
{
    constexpr std::array settings{"k", "temperature", "bank", "queries", "classes", "seconds", "quality_images"};
    return std::ranges::find(settings, figure) != settings.end();
}

/// "rss_mb" of "rss_mb/r1".
std::string withoutRank(const std::string &series)
{
    const auto slash = series.rfind("/r");
    if (slash == std::string::npos || !text::parseInt(std::string_view(series).substr(slash + 2))) return series;
    return series.substr(0, slash);
}

void fillOther(ChartContent &chart, const QString &figure, const Source &from)
{
    const std::string name = figure.toStdString();
    addLine(chart, lineOf(from.data, name, from.mode), tr("run"));
    for (ChartSeries &line : from.ranks(name)) chart.series.push_back(std::move(line));
    if (chart.series.size() > 1 && chart.series.front().name == tr("run")) chart.series.front().name = tr("rank 0");
}

} // namespace

QStringList standardCharts()
{
    QStringList names;
    for (const Standard &each : standards()) names << QString::fromLatin1(each.id);
    return names;
}

QStringList shownAtFirst()
{
    QStringList names;
    for (const Standard &each : standards())
        if (each.atFirst) names << QString::fromLatin1(each.id);
    return names;
}

QStringList chartsOf(const RunData &data)
{
    QStringList names = standardCharts();
    for (const auto &entry : data.series) {
        const std::string figure = withoutRank(entry.first);
        const bool held = std::ranges::any_of(standards(), [&](const Standard &each) {
            return std::ranges::find(each.figures, figure) != each.figures.end();
        });
        const QString name = session::toQString(figure);
        if (!held && !isSetting(figure) && !names.contains(name)) names << name;
    }
    return names;
}

QString chartTitle(const QString &chart)
{
    if (const Standard *standard = find(chart)) return tr(standard->title);
    QString title = chart;
    title.replace(QLatin1Char('_'), QLatin1Char(' '));
    if (!title.isEmpty()) title[0] = title[0].toUpper();
    return title;
}

ChartContent chartContent(const QString &chart, const RunData &data, const RunSummary &run, XMode mode)
{
    ChartContent content;
    content.title = chartTitle(chart);
    const Source from{data, run, mode};
    if (const Standard *standard = find(chart))
        standard->fill(content, from);
    else
        fillOther(content, chart, from);
    return content;
}

} // namespace parallax::ui
