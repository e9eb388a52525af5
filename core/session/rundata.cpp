// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/runfollower.h"

#include "core/base/text.h"
#include "core/session/qtconvert.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace parallax::session {

namespace {

constexpr std::size_t logLimit = 20'000; // lines kept for a screen; the files keep all

bool isFigureOfOneRank(std::string_view name) { return name == "step_ms"; }

/// The rank that writes the series: "rss_mb/r1" is rank 1's, a name without rank is rank 0's.
int rankOf(std::string_view name)
{
    const auto slash = name.rfind("/r");
    if (slash == std::string_view::npos) return 0;
    return int(text::parseInt(name.substr(slash + 2)).value_or(0));
}

/// Keys that place a line rather than measure something.
bool isPlace(std::string_view key)
{
    constexpr std::array places{"t", "event", "step", "epoch"};
    return std::find(places.begin(), places.end(), key) != places.end();
}

std::string textOf(const runs::Json &fields, const char *key)
{
    const auto found = fields.find(key);
    return found != fields.end() && found->is_string() ? text::printable(found->get<std::string>()) : std::string();
}

QString qtextOf(const runs::Json &fields, const char *key) { return toQString(textOf(fields, key)); }

void addFigures(RunData &data, int rank, const runs::Event &event)
{
    const std::string suffix = "/r" + std::to_string(rank);
    const bool ranked = rank > 0 || event.event == "memory";
    for (const auto &[key, value] : event.fields.items()) {
        if (isPlace(key)) continue;
        const auto figure = runs::figure(value);
        if (!figure) continue;
        const bool own = ranked || isFigureOfOneRank(key);
        data.series[own ? key + suffix : key].append(double(event.step), event.epoch, event.t, *figure);
    }
}

void startAgain(RunData &data, int rank, const runs::Event &event)
{
    const auto resumed = event.fields.find("resumed");
    if (resumed == event.fields.end() || *resumed != true) return;
    for (auto &[name, series] : data.series)
        if (rankOf(name) == rank) series.resumeFrom(double(event.step));
    if (rank == 0) data.marks.push_back({double(event.step), event.epoch, event.t, QStringLiteral("resume"), {}});
}

void addLog(RunData &data, int rank, double time, const QString &level, const QString &text)
{
    if (data.log.size() >= logLimit) data.log.erase(data.log.begin(), data.log.begin() + logLimit / 10);
    data.log.push_back({time, rank, level, text});
}

void addMark(RunData &data, const runs::Event &event, const char *kind, const QString &text)
{
    data.marks.push_back({double(event.step), event.epoch, event.t, QString::fromLatin1(kind), text});
}

void addError(RunData &data, int rank, const runs::Event &event)
{
    const Error error{textOf(event.fields, "what"), textOf(event.fields, "where"), textOf(event.fields, "hint")};
    const QString message = toQString(error.message());
    addLog(data, rank, event.t, QStringLiteral("error"), message);
    addMark(data, event, "failure", message);
}

void addFact(RunData &data, int rank, const runs::Event &event)
{
    if (event.event == "start")
        startAgain(data, rank, event);
    else if (event.event == "error")
        addError(data, rank, event);
    else if (event.event == "log") {
        const QString level = qtextOf(event.fields, "level"), text = qtextOf(event.fields, "text");
        addLog(data, rank, event.t, level.isEmpty() ? QStringLiteral("info") : level, text);
        if (level == QLatin1String("warning")) addMark(data, event, "warning", text);
    } else if (rank != 0)
        return;
    else if (event.event == "plan")
        data.plan = event.fields;
    else if (event.event == "state")
        data.activity = qtextOf(event.fields, "state");
    else if (event.event == "checkpoint")
        addMark(data, event, "checkpoint", qtextOf(event.fields, "file"));
    else if (event.event == "embedding")
        addMark(data, event, "embedding", {});
}

} // namespace

void apply(RunData &data, int rank, const std::vector<runs::Event> &events)
{
    for (const runs::Event &event : events) {
        const bool figures = event.event == "metrics" || event.event == "memory" || event.event == "eval";
        if (figures)
            addFigures(data, rank, event);
        else
            addFact(data, rank, event);
        if (event.event == "eval" && rank == 0) addMark(data, event, "evaluation", {});
        if (rank == 0 && event.event != "log" && event.event != "error") {
            data.step = event.step;
            data.epoch = event.epoch;
        }
    }
}

} // namespace parallax::session
