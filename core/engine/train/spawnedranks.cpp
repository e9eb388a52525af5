// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/spawnedranks.h"

#include "core/base/text.h"
#include "core/engine/train/failure.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace parallax::train {
namespace {

constexpr std::chrono::seconds kGrace{5}; ///< for the others, once a rank has failed

} // namespace

SpawnedRanks::SpawnedRanks(runs::RunFolder run, const std::vector<std::string> &devices, double timeout)
    : m_run(std::move(run)), m_timeout(timeout)
{
    // Nothing is ever written: its end tells the ranks that this process is gone.
    if (pipe2(m_commands, O_CLOEXEC) != 0) throw Failure({"cannot make a pipe", "selftest", {}});
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
        m_ranks.push_back({start(int(rank), int(devices.size()), devices[rank])});
}

SpawnedRanks::~SpawnedRanks()
{
    for (auto &rank : m_ranks)
        if (rank.running) {
            kill(rank.pid, SIGKILL);
            waitpid(rank.pid, nullptr, 0);
        }
    for (const int end : m_commands) close(end);
}

pid_t SpawnedRanks::start(int rank, int world, const std::string &device) const
{
    const std::vector<std::string> words{"parallax-worker", "train",
                                         "--run",           m_run.path().string(),
                                         "--rank",          std::to_string(rank),
                                         "--world",         std::to_string(world),
                                         "--store",         (m_run.path() / "store").string(),
                                         "--device",        device};
    std::vector<char *> argv;
    for (const auto &word : words) argv.push_back(const_cast<char *>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, m_commands[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, m_run.log(rank).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw Failure({"cannot start a rank: " + std::generic_category().message(error), "selftest", {}});
    return pid;
}

void SpawnedRanks::finish()
{
    while (!settled()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!std::ranges::all_of(m_ranks, [](const Rank &rank) { return !rank.running && rank.status == 0; })) blame();
}

/// There is nothing left to wait for: all have ended, or some never will.
bool SpawnedRanks::settled()
{
    bool running = false, failed = false;
    std::uintmax_t written = 0;
    for (std::size_t i = 0; i < m_ranks.size(); ++i) {
        Rank &rank = m_ranks[i];
        if (rank.running && waitpid(rank.pid, &rank.status, WNOHANG) == rank.pid) rank.running = false;
        running = running || rank.running;
        failed = failed || rank.failed();
        std::error_code none;
        if (const auto size = std::filesystem::file_size(m_run.events(int(i)), none); !none) written += size;
    }
    const auto now = Clock::now();
    if (written != m_written) m_moved = now;
    m_written = written;
    if (failed) m_failed = std::min(m_failed, now);
    // Ranks that wait for one that hangs give up first; what still runs then is the one.
    const bool stands = now - m_moved > std::chrono::duration<double>(m_timeout) + 2 * kGrace;
    return !running || stands || (failed && now - m_failed > kGrace);
}

std::string SpawnedRanks::lastLines(std::size_t rank) const
{
    constexpr std::size_t most = 8;
    std::ifstream log(m_run.log(int(rank)));
    std::vector<std::string> lines;
    for (std::string line; std::getline(log, line);) {
        if (!line.empty()) lines.push_back(text::printable(line));
        if (lines.size() > most) lines.erase(lines.begin());
    }
    return lines.empty() ? "It left no last words" : "Its last lines:\n" + text::join(lines, "\n");
}

/// The rank that is to blame: rather one that a signal ended or that says what is wrong than one that hangs, and none that only
/// lost another.
void SpawnedRanks::blame() const
{
    const auto rating = [this](std::size_t i) {
        const Rank &rank = m_ranks[i];
        if (rank.running) return 2;
        if (rank.status == 0) return 0;
        if (WIFSIGNALED(rank.status)) return 4;
        return lastLines(i).find("lost contact with another rank") == std::string::npos ? 3 : 1;
    };
    std::size_t worst = 0;
    for (std::size_t i = 1; i < m_ranks.size(); ++i)
        if (rating(i) > rating(worst)) worst = i;
    const Rank &rank = m_ranks[worst];
    std::string what = rank.running ? " hangs" : " failed";
    if (!rank.running && WIFSIGNALED(rank.status)) {
        const char *name = sigabbrev_np(WTERMSIG(rank.status));
        what = std::string(" was ended by ") + (name ? std::string("SIG") + name : "a signal");
    }
    throw Failure({m_run.name() + ": rank " + std::to_string(worst) + " of " + std::to_string(m_ranks.size()) + what,
                   "selftest", lastLines(worst)});
}

} // namespace parallax::train
