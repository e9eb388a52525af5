// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runs/runfolder.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace parallax::train {

/// The ranks of one run, each this program again, with stderr in the rank's log. None outlives the object.
class SpawnedRanks
{
public:
    /// Rank r on devices[r]. `timeout`: seconds after which a rank that waits for another gives up, as in the configuration.
    /// Throws Failure.
    SpawnedRanks(runs::RunFolder run, const std::vector<std::string> &devices, double timeout);
    ~SpawnedRanks();
    SpawnedRanks(const SpawnedRanks &) = delete;

    /// Waits until all have ended well. Throws Failure with the rank that died or hangs and its last lines.
    void finish();

private:
    using Clock = std::chrono::steady_clock;
    struct Rank {
        pid_t pid = -1;
        int status = 0;
        bool running = true;
        bool failed() const { return !running && status != 0; }
    };
    pid_t start(int rank, int world, const std::string &device) const;
    bool settled();
    std::string lastLines(std::size_t rank) const;
    [[noreturn]] void blame() const;

    runs::RunFolder m_run;
    double m_timeout;
    int m_commands[2] = {-1, -1};
    std::vector<Rank> m_ranks;
    std::uintmax_t m_written = 0; ///< bytes of all their events
    Clock::time_point m_moved = Clock::now(), m_failed = Clock::time_point::max();
};

} // namespace parallax::train
