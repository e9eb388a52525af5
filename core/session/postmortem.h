// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runs/runfolder.h"
#include "core/runs/runrecord.h"

#include <cstdint>
#include <string>
#include <vector>

namespace parallax::session {

/// How one rank of a failed launch ended.
struct RankEnd {
    int rank = 0, signal = 0, exitCode = 0;
    bool byUs = false;      ///< we ended it because another had failed
    bool stopped = false;   ///< it was found stopped (SIGSTOP) when the first one ended
    std::string startError; ///< its program could not be started
    std::int64_t order = 0; ///< of ending
};

/// Which rank is to blame and of what it died. A rank that goes takes its siblings with it: they end by a broken connection
/// or by our signal, often before the first one's end is seen. So the choice is: a program that did not start; a rank found
/// stopped; a signal that was not ours; the earliest error that is not about a lost sibling; the first to end.
/// `since`: seconds since 1970, older error events are an earlier launch's.
runs::Failure explain(const runs::RunFolder &folder, const std::vector<RankEnd> &ends, double since);

/// The last `count` lines of a text file, each safe for a terminal. Only its end is read.
std::vector<std::string> lastLines(const std::filesystem::path &file, std::size_t count);

} // namespace parallax::session
