// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/runfigures.h"

#include "core/session/qtconvert.h"
#include "ui/widgets/format.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace parallax::ui {

using session::RunData;
using session::RunSummary;
using session::toQString;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

const metrics::Series *find(const RunData &data, const std::string &name)
{
    const auto found = data.series.find(name);
    return found == data.series.end() || found->second.size() == 0 ? nullptr : &found->second;
}

double startOf(const RunData &data) { return data.record.created; }

double place(const RunData &data, XMode mode, double step, double epoch, double time)
{
    switch (mode) {
    case XMode::Step: return step;
    case XMode::Epoch: return epoch;
    case XMode::Relative: return time - startOf(data);
    case XMode::Wall: return time;
    }
    return step;
}

std::vector<double> positions(const RunData &data, const metrics::Series &series, XMode mode)
{
    std::vector<double> x = mode == XMode::Step ? series.step : mode == XMode::Epoch ? series.epoch : series.time;
    if (mode == XMode::Relative)
        for (double &value : x) value -= startOf(data);
    return x;
}

/// The mean of the last n finite values before `skip` further ones.
double meanOfLast(const metrics::Series &series, std::size_t n, std::size_t skip)
{
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = series.size() - std::min(skip, series.size()); i > 0 && count < n; --i) {
        if (!std::isfinite(series.value[i - 1])) continue;
        sum += series.value[i - 1];
        ++count;
    }
    return count > 0 ? sum / double(count) : none;
}

double lastValue(const metrics::Series &series) { return series.last(); }
double largestValue(const metrics::Series &series) { return series.best(true); }
/// A single step's time jumps: what a rank takes is told by some.
double recentMean(const metrics::Series &series) { return meanOfLast(series, 50, 0); }

/// `of` of each rank's series: the largest, and which rank has it.
std::pair<double, int> largest(const RunData &data, const std::string &name, double (*of)(const metrics::Series &))
{
    std::pair<double, int> result{none, -1};
    for (int rank = 0; rank < data.record.world; ++rank) {
        const metrics::Series *series = find(data, name + "/r" + std::to_string(rank));
        if (!series) continue;
        const double value = of(*series);
        if (std::isfinite(value) && !(value <= result.first)) result = {value, rank};
    }
    return result;
}

KeyFigure lossFigure(const RunData &data)
{
    KeyFigure figure{QStringLiteral("Loss"), formatMetric(lastOf(data, "loss")), {}, Token::Text};
    const metrics::Series *loss = find(data, "loss");
    const double perEpoch = planned(data, "steps_per_epoch");
    if (!loss || !(perEpoch > 0)) return figure;
    // From the mean of the epoch before to the mean of the last one.
    const double stride =
        loss->size() > 1 ? std::max(1.0, (loss->step.back() - loss->step.front()) / double(loss->size() - 1)) : 1;
    const auto points = std::size_t(std::max(1.0, perEpoch / stride));
    if (loss->size() < 2 * points) return figure;
    const double change = meanOfLast(*loss, points, 0) - meanOfLast(*loss, points, points);
    if (std::isfinite(change))
        figure.note = QStringLiteral("%1 %2 / epoch")
                          .arg(change <= 0 ? QStringLiteral("▾") : QStringLiteral("▴"), formatMetric(std::abs(change)));
    return figure;
}

KeyFigure memoryFigure(const RunData &data)
{
    const bool gpu = onGpu(data);
    const auto [peak, rank] = largest(data, gpu ? "reserved_mb" : "rss_mb", largestValue);
    KeyFigure figure{QStringLiteral("Peak memory"), formatMegabytes(peak), {}, Token::Text};
    if (rank < 0) return figure;
    const double total = largest(data, "device_total_mb", lastValue).first;
    figure.note = gpu && std::isfinite(total) ? QStringLiteral("of %1, rank %L2").arg(formatMegabytes(total)).arg(rank)
                                              : QStringLiteral("rank %L1").arg(rank);
    return figure;
}

KeyFigure slowestFigure(const RunData &data)
{
    const auto [slowest, rank] = largest(data, "step_ms", recentMean);
    KeyFigure figure{QStringLiteral("Step time"),
                     std::isfinite(slowest) ? formatFixed(slowest, 0) + QStringLiteral(" ms") : formatFixed(none, 0),
                     {},
                     Token::Text};
    double fastest = slowest;
    for (int r = 0; r < data.record.world; ++r) {
        const metrics::Series *series = find(data, "step_ms/r" + std::to_string(r));
        if (const double value = series ? recentMean(*series) : none; std::isfinite(value))
            fastest = std::min(fastest, value);
    }
    if (rank >= 0 && data.record.world > 1)
        figure.note = QStringLiteral("rank %L1, + %2 ms").arg(rank).arg(formatFixed(slowest - fastest, 0));
    return figure;
}

/// What resumes replaced, as one line that goes forward, with gaps between the attempts; where two of them cover the same
/// steps, the later one.
metrics::Polyline pastOf(const metrics::Series &series)
{
    std::map<double, double> points;
    std::vector<std::pair<double, double>> taken;
    const std::vector<double> &step = series.supersededStep, &value = series.supersededValue;
    for (std::size_t end = step.size(); end > 0;) {
        if (!std::isfinite(value[end - 1])) {
            --end;
            continue;
        }
        std::size_t begin = end - 1; // of an attempt: the last one that is left
        while (begin > 0 && std::isfinite(value[begin - 1]) && step[begin - 1] < step[begin]) --begin;
        const std::pair range{step[begin], step[end - 1]};
        const auto isTaken = [&](double x) {
            return std::ranges::any_of(taken, [x](const auto &other) { return x >= other.first && x <= other.second; });
        };
        for (std::size_t i = begin; i < end; ++i)
            if (!isTaken(step[i])) points.emplace(step[i], value[i]);
        points.emplace(std::nextafter(range.first, -HUGE_VAL), none);
        points.emplace(std::nextafter(range.second, HUGE_VAL), none);
        taken.push_back(range);
        end = begin;
    }
    metrics::Polyline line;
    for (const auto &[x, y] : points) {
        const bool gap = !std::isfinite(y);
        if (gap && (line.y.empty() || !std::isfinite(line.y.back()))) continue;
        line.x.push_back(x);
        line.y.push_back(y);
    }
    if (!line.y.empty() && !std::isfinite(line.y.back())) {
        line.x.pop_back();
        line.y.pop_back();
    }
    return line;
}

} // namespace

XScale scaleOf(XMode mode)
{
    return mode == XMode::Relative ? XScale::Elapsed : mode == XMode::Wall ? XScale::Clock : XScale::Number;
}

double lastOf(const RunData &data, const std::string &name)
{
    const metrics::Series *series = find(data, name);
    return series ? series->last() : none;
}

std::optional<int> slowestRank(const RunData &data)
{
    const int rank = largest(data, "step_ms", recentMean).second;
    return rank >= 0 && data.record.world > 1 ? std::optional(rank) : std::nullopt;
}

double planned(const RunData &data, const char *key)
{
    const auto found = data.plan.is_object() ? data.plan.find(key) : data.plan.end();
    if (!data.plan.is_object() || found == data.plan.end()) return none;
    return runs::figure(*found).value_or(none);
}

bool onGpu(const RunData &data) { return largest(data, "allocated_mb", lastValue).second >= 0; }

std::optional<ChartSeries> lineOf(const RunData &data, const std::string &name, XMode mode, double factor)
{
    const metrics::Series *series = find(data, name);
    if (!series) return std::nullopt;
    ChartSeries line;
    line.name = toQString(name);
    line.x = positions(data, *series, mode);
    line.y = series->value;
    // What a resume replaced is known by step only; elsewhere it would need a place that it does not have.
    const double perEpoch = planned(data, "steps_per_epoch");
    if (mode == XMode::Step || (mode == XMode::Epoch && perEpoch > 0)) {
        metrics::Polyline past = pastOf(*series);
        line.pastX = std::move(past.x);
        line.pastY = std::move(past.y);
        if (mode == XMode::Epoch)
            for (double &x : line.pastX) x /= perEpoch;
    }
    if (factor != 1) {
        for (double &y : line.y) y *= factor;
        for (double &y : line.pastY) y *= factor;
    }
    return line;
}

std::vector<ChartSeries> rankLines(const RunData &data, const std::string &name, XMode mode, double factor)
{
    std::vector<ChartSeries> lines;
    for (int rank = 0; rank < data.record.world; ++rank) {
        auto line = lineOf(data, name + "/r" + std::to_string(rank), mode, factor);
        if (!line) continue;
        line->name = QStringLiteral("rank %L1").arg(rank);
        line->color = rank;
        line->width = 1.5;
        lines.push_back(std::move(*line));
    }
    return lines;
}

std::vector<ChartEvent> eventsOf(const RunData &data, XMode mode)
{
    std::vector<ChartEvent> events;
    bool failed = false;
    for (const RunData::Mark &mark : data.marks) {
        const double x = place(data, mode, mark.step, mark.epoch, mark.time);
        if (mark.kind == QLatin1String("checkpoint")) events.push_back({x, ChartEvent::Kind::Checkpoint, {}});
        if (mark.kind == QLatin1String("evaluation")) events.push_back({x, ChartEvent::Kind::Evaluation, {}});
        if (mark.kind == QLatin1String("warning")) events.push_back({x, ChartEvent::Kind::Warning, {}});
        if (mark.kind == QLatin1String("resume")) events.push_back({x, ChartEvent::Kind::Resume, {}});
        if (mark.kind == QLatin1String("failure")) failed = true;
    }
    if (data.record.state != runs::State::Failed || (!failed && !data.record.failure)) return events;
    // One line where the run ended: several ranks may have failed in turn, the record knows which was first.
    const int rank = data.record.failure ? data.record.failure->rank : -1;
    const metrics::Series *loss = find(data, "loss");
    if (loss)
        events.push_back({place(data, mode, loss->step.back(), loss->epoch.back(), loss->time.back()),
                          ChartEvent::Kind::Failure,
                          rank >= 0 ? QStringLiteral("rank %L1 failed").arg(rank) : QStringLiteral("failed")});
    return events;
}

std::vector<session::LogLine> logLines(const RunData &data)
{
    std::vector<session::LogLine> lines = data.log;
    const auto add = [&](double time, const QString &text) { lines.push_back({time, 0, QStringLiteral("info"), text}); };
    for (const RunData::Mark &mark : data.marks) {
        const QString step = formatCount(mark.step);
        if (mark.kind == QLatin1String("checkpoint"))
            add(mark.time, QStringLiteral("checkpoint of step %1 written").arg(step));
        if (mark.kind == QLatin1String("resume")) add(mark.time, QStringLiteral("goes on from step %1").arg(step));
        if (mark.kind == QLatin1String("embedding"))
            add(mark.time, QStringLiteral("embeddings of epoch %1 stored").arg(formatCount(std::round(mark.epoch))));
    }
    if (const metrics::Series *knn = find(data, "knn_top1"))
        for (std::size_t i = 0; i < knn->size(); ++i)
            add(knn->time[i],
                (knn->step[i] > 0 ? QStringLiteral("epoch %1").arg(formatCount(std::round(knn->epoch[i])))
                                  : QStringLiteral("untrained")) +
                    QStringLiteral("   kNN accuracy %1").arg(formatFixed(knn->value[i], 4)));
    std::stable_sort(lines.begin(), lines.end(), [](const auto &a, const auto &b) { return a.t < b.t; });
    if (data.skippedLines > 0) // first, where it stays as the run goes on
        lines.insert(lines.begin(),
                     {data.record.created, 0, QStringLiteral("warning"),
                      data.skippedLines == 1 ? QStringLiteral("1 damaged line of the event files is left out")
                                             : QStringLiteral("%1 damaged lines of the event files are left out")
                                                   .arg(formatCount(double(data.skippedLines)))});
    return lines;
}

std::vector<KeyFigure> keyFigures(const RunData &data, const RunSummary &summary)
{
    std::vector<KeyFigure> figures{lossFigure(data)};
    const double knn = lastOf(data, "knn_top1");
    KeyFigure accuracy{QStringLiteral("kNN accuracy"), formatFixed(knn, 4), {}, Token::Text};
    if (std::isfinite(summary.untrainedKnn))
        accuracy.note = QStringLiteral("untrained %1").arg(formatFixed(summary.untrainedKnn, 4));
    else if (std::isfinite(summary.bestKnn))
        accuracy.note = QStringLiteral("best %1").arg(formatFixed(summary.bestKnn, 4));
    figures.push_back(accuracy);
    const double speed = lastOf(data, "images_per_s");
    KeyFigure throughput{QStringLiteral("Images / s"), formatCount(speed), {}, Token::Text};
    if (std::isfinite(speed) && data.record.world > 1)
        throughput.note = QStringLiteral("%1 per rank").arg(formatCount(speed / data.record.world));
    figures.push_back(throughput);
    figures.push_back(memoryFigure(data));
    figures.push_back(slowestFigure(data));
    figures.push_back({QStringLiteral("Data wait"), formatPercent(lastOf(data, "data_wait"), 1),
                       QStringLiteral("of step time"), Token::Text});
    const double rate = lastOf(data, "lr");
    figures.push_back({QStringLiteral("Learning rate"), formatMetric(rate), {}, Token::Text});
    return figures;
}

QString subtitleOf(const RunData &data, const RunSummary &summary)
{
    QStringList parts;
    if (!summary.method.isEmpty()) parts << summary.method;
    if (!summary.backbone.isEmpty()) parts << summary.backbone;
    const double images = planned(data, "images");
    if (!summary.dataset.isEmpty())
        parts << (std::isfinite(images) ? QStringLiteral("%1, %2 images").arg(summary.dataset, formatCount(images))
                                        : summary.dataset);
    const int world = summary.record.world;
    QString ranks = world == 1 ? QStringLiteral("%L1 rank").arg(1) : QStringLiteral("%L1 ranks").arg(world);
    const auto group = data.config.is_object() ? data.config.find("distributed") : data.config.end();
    if (world > 1 && data.config.is_object() && group != data.config.end() && group->is_object()) {
        if (group->value("sync_bn", runs::Json(false)) == true) ranks += QStringLiteral(", SyncBatchNorm");
        if (group->value("gather", runs::Json(false)) == true) ranks += QStringLiteral(", gather");
    }
    parts << ranks;
    return parts.join(QStringLiteral(" · "));
}

} // namespace parallax::ui
