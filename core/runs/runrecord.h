// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/runs/runfolder.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace parallax::runs {

enum class State { Queued, Running, Paused, Finished, Failed, Interrupted };
std::string toString(State state);
std::optional<State> stateFromString(const std::string &text);

/// Which rank died of what; kept in run.json so that list, show and the studio can say it.
struct Failure {
    int rank = -1;  ///< -1: not a rank's (supervisor, system)
    int signal = 0; ///< 9 for SIGKILL; 0: none
    int exitCode = 0;
    std::string what, where, hint; ///< an Error's parts
    std::vector<std::string> log;  ///< that rank's last lines
    std::string summary() const;   ///< one line: "rank 1 was killed by SIGKILL (out of memory?)"
    bool operator==(const Failure &) const = default;
};

/// run.json. Written only by the run's supervisor, or, once that is dead, by whoever marks the run interrupted.
struct RunRecord {
    std::string id, name, state_reason;
    State state = State::Running;
    std::optional<Failure> failure;
    double created = 0, ended = 0;      ///< seconds since 1970; 0: not yet
    std::int64_t pid = 0, pidStart = 0; ///< of the supervisor; start in clock ticks since boot (/proc/<pid>/stat, field 22)
    std::string host, socket;           ///< socket: path of the supervisor's local socket
    int world = 1;
    std::vector<std::string> devices; ///< rank r runs on devices[r]: "cpu", "cuda:0"
    std::vector<std::string> command;
    nlohmann::ordered_json versions; ///< parallax, torch, torch_cuda (bool), opencv, qt
    nlohmann::ordered_json git;      ///< commit, dirty; null outside a checkout
    int color = 0;                   ///< index into the categorical palette, kept for life
    struct Attempt {
        double started = 0;
        std::int64_t fromStep = 0;
        bool operator==(const Attempt &) const = default;
    };
    std::vector<Attempt> attempts; ///< one a launch: the first and each resume

    nlohmann::ordered_json toJson() const;
    static Result<RunRecord> fromJson(const nlohmann::ordered_json &json);
    static Result<RunRecord> load(const RunFolder &folder);
    Status save(const RunFolder &folder) const; ///< atomic
    bool operator==(const RunRecord &) const = default;
};

/// Clock ticks since boot at which `pid` started; nothing when there is no such process (or it is a zombie).
std::optional<std::int64_t> processStart(std::int64_t pid);
/// The process that wrote the record is still there (same pid and start, same host). Another host: assumed alive.
bool supervisorAlive(const RunRecord &record);
/// Running or paused on paper, but its supervisor is gone: marks it interrupted and saves. Returns whether it did.
bool markIfDead(const RunFolder &folder, RunRecord &record);

} // namespace parallax::runs
