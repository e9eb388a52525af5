// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/runrecord.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"

#include <csignal>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace parallax::runs {

namespace {

std::string hostName()
{
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

/// Seconds since 1970 at which the run last wrote something; 0 when that cannot be told.
double lastSign(const RunFolder &folder)
{
    struct stat info {
    };
    for (const auto &file : {folder.events(0), folder.record()})
        if (::stat(file.c_str(), &info) == 0) return double(info.st_mtim.tv_sec) + double(info.st_mtim.tv_nsec) * 1e-9;
    return 0;
}

std::string signalName(int signal)
{
    const char *name = ::sigabbrev_np(signal);
    return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

bool livesOnPaper(State state) { return state == State::Running || state == State::Paused; }

} // namespace

std::string Failure::summary() const
{
    std::string reason = Error{what, where, hint}.message();
    if (rank < 0) return reason;
    std::string text = "rank " + std::to_string(rank);
    if (signal != 0)
        text += " was killed by " + signalName(signal) + (signal == SIGKILL ? " (out of memory?)" : "");
    else if (exitCode != 0)
        text += " ended with exit code " + std::to_string(exitCode);
    else
        text += " failed";
    return reason.empty() ? text : text + ": " + reason;
}

std::optional<std::int64_t> processStart(std::int64_t pid)
{
    if (pid <= 0) return {};
    const auto stat = readFile("/proc/" + std::to_string(pid) + "/stat", 1 << 16);
    if (!stat) return {};
    // The second field is the program's name in brackets and may itself hold blanks and brackets: count from its end.
    const std::size_t bracket = stat->rfind(')');
    if (bracket == std::string::npos) return {};
    const auto fields = text::split(text::trimmed(std::string_view(*stat).substr(bracket + 1)), ' ');
    constexpr std::size_t state = 0, start = 19; // fields 3 and 22 of proc(5)
    if (fields.size() <= start || fields[state] == "Z" || fields[state] == "X") return {};
    return text::parseInt(fields[start]);
}

bool supervisorAlive(const RunRecord &record)
{
    // Processes of another machine cannot be seen from here.
    if (!record.host.empty() && record.host != hostName()) return true;
    const auto start = processStart(record.pid);
    return start && *start == record.pidStart;
}

bool markIfDead(const RunFolder &folder, RunRecord &record)
{
    if (!livesOnPaper(record.state) || supervisorAlive(record)) return false;
    // The supervisor may have written how the run ended after `record` was read, and then ended: its word counts.
    if (auto newest = RunRecord::load(folder)) record = std::move(*newest);
    if (!livesOnPaper(record.state) || supervisorAlive(record)) return false;
    record.state = State::Interrupted;
    record.state_reason = "its supervisor is gone without a word: killed, or the machine went down";
    record.ended = lastSign(folder);
    // In a folder that may only be read the record stays as it is, and every reader comes to the same end.
    static_cast<void>(record.save(folder));
    return true;
}

} // namespace parallax::runs
