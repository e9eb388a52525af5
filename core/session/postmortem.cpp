// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/postmortem.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/json/strict.h"
#include "core/session/job.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <limits>
#include <optional>
#include <tuple>

namespace parallax::session {

namespace {

constexpr std::size_t logLines = 20;
constexpr std::streamoff tailBytes = 64 << 10;
constexpr std::uintmax_t littleSpace = 1 << 20; // where a rank could not even write why it ended
constexpr std::size_t longestShown = 400;       // bytes of a log line

struct ErrorEvent {
    double time = 0;
    Error error;
};

std::string tail(const std::filesystem::path &file)
{
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    if (!in) return {};
    const std::streamoff size = in.tellg(), begin = std::max<std::streamoff>(0, size - tailBytes);
    std::string bytes(std::size_t(size - begin), '\0');
    in.seekg(begin);
    in.read(bytes.data(), std::streamsize(bytes.size()));
    bytes.resize(std::size_t(in.gcount()));
    return bytes;
}

std::string textOf(const json::Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? text::printable(found->get<std::string>()) : std::string();
}

std::optional<ErrorEvent> lastError(const std::filesystem::path &events, double since)
{
    std::optional<ErrorEvent> last;
    for (const std::string &line : text::split(tail(events), '\n')) {
        if (line.find("\"error\"") == std::string::npos) continue;
        const auto parsed = json::parse(line);
        const auto *event = std::get_if<json::Json>(&parsed);
        if (!event || !event->is_object() || textOf(*event, "event") != "error" || !event->contains("t")) continue;
        if (!(*event)["t"].is_number()) continue;
        const double time = (*event)["t"].get<double>();
        if (time < since) continue;
        last = ErrorEvent{time, {textOf(*event, "what"), textOf(*event, "where"), textOf(*event, "hint")}};
    }
    return last;
}

/// How far a rank came, for one that died without a word: "after step 12".
std::string lastPlace(const std::filesystem::path &events)
{
    std::int64_t step = -1;
    for (const std::string &line : text::split(tail(events), '\n')) {
        const auto parsed = json::parse(line);
        const auto *event = std::get_if<json::Json>(&parsed);
        if (!event || !event->is_object() || !event->contains("step") || !(*event)["step"].is_number_integer()) continue;
        step = (*event)["step"].get<std::int64_t>();
    }
    return step < 0 ? "before its first event" : "after step " + std::to_string(step);
}

/// What a collective says when the other side is gone: a consequence, not a cause.
bool tellsOfLostSibling(const std::string &what)
{
    constexpr std::array signs{"onnection closed by peer", "onnection reset", "roken pipe",    "imed out",    "imeout",
                               "remote process exited",    "NCCL error",      "socket closed", "another rank"};
    return std::any_of(signs.begin(), signs.end(), [&](const char *sign) { return what.find(sign) != std::string::npos; });
}

std::string hintFor(int signal)
{
    switch (signal) {
    case SIGKILL:
        return "The system kills a process when memory runs out: choose a smaller batch, fewer loader threads or fewer "
               "ranks";
    case SIGXFSZ: return "A file grew beyond the limit of the shell (ulimit -f)";
    case SIGTERM:
    case SIGINT:
    case SIGHUP: return "Somebody ended the process; go on with: parallax resume";
    default: return "The program itself is at fault: its last lines are in the rank's log";
    }
}

} // namespace

std::vector<std::string> lastLines(const std::filesystem::path &file, std::size_t count)
{
    std::vector<std::string> lines;
    for (const std::string &line : text::split(tail(file), '\n')) {
        const std::string shown = text::printable(line.substr(0, longestShown));
        if (!text::trimmed(shown).empty()) lines.push_back(shown);
    }
    if (lines.size() > count) lines.erase(lines.begin(), lines.end() - std::ptrdiff_t(count));
    return lines;
}

runs::Failure explain(const runs::RunFolder &folder, const std::vector<RankEnd> &ends, double since)
{
    const RankEnd *worst = nullptr;
    std::tuple<int, double, std::int64_t> worstKey;
    std::optional<ErrorEvent> worstError;
    for (const RankEnd &end : ends) {
        const bool fine = end.signal == 0 && (end.exitCode == 0 || end.exitCode == 3);
        if (fine && !end.stopped) continue;
        const auto error = lastError(folder.events(end.rank), since);
        const bool cause = error && !tellsOfLostSibling(error->error.what);
        const bool ownSignal = end.signal != 0 && !end.byUs;
        // SIGABRT is how NCCL's watchdog ends a process whose sibling is silent: no better than an error.
        const bool killed = ownSignal && end.signal != SIGABRT;
        const int kind = !end.startError.empty() ? 0
            : killed                             ? 1
            : end.stopped                        ? 2
            : cause                              ? 3
            : ownSignal                          ? 4
            : end.byUs                           ? 6
                                                 : 5;
        const std::tuple key{kind, cause ? error->time : std::numeric_limits<double>::infinity(), end.order};
        if (worst && worstKey <= key) continue;
        worst = &end;
        worstKey = key;
        worstError = error;
    }
    runs::Failure failure;
    if (!worst) return failure;
    failure.rank = worst->rank;
    failure.exitCode = worst->exitCode;
    failure.log = lastLines(folder.log(worst->rank), logLines);
    if (!worst->startError.empty()) {
        failure.what = "The worker cannot be started: " + worst->startError;
        failure.where = programPath(Job::Program::Worker).toStdString();
        failure.hint = "Build it, or point PARALLAX_WORKER at it";
    } else if (worst->stopped && std::get<0>(worstKey) == 2) {
        failure.what = "It was stopped (SIGSTOP) and held up the others";
        failure.hint = "Somebody or something stopped the process; go on with: parallax resume";
    } else if (worst->signal != 0 && !worst->byUs) {
        failure.signal = worst->signal;
        failure.what = lastPlace(folder.events(worst->rank));
        failure.hint = hintFor(worst->signal);
    } else if (worstError) {
        failure.what = worstError->error.what;
        failure.where = worstError->error.where;
        failure.hint = worstError->error.hint;
    } else if (paths::freeSpace(folder.path()) < littleSpace) {
        failure.what = "disk full: only " + text::bytes(paths::freeSpace(folder.path())) + " are free";
        failure.where = folder.path().string();
        failure.hint = "Free some space, then go on with: parallax resume";
    } else {
        failure.what = "It ended without a word";
        failure.hint = "Its last lines are in " + folder.log(worst->rank).filename().string();
    }
    return failure;
}

} // namespace parallax::session
