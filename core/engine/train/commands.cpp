// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/commands.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <limits>
#include <mutex>
#include <optional>
#include <system_error>

#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace parallax::train {
namespace {

constexpr std::int64_t kStop = std::numeric_limits<std::int64_t>::max();
std::atomic<bool> stopRequested{false};

std::optional<Commands::Word> parse(const std::string &word)
{
    if (word == "pause") return Commands::Word::Pause;
    if (word == "resume") return Commands::Word::Resume;
    if (word == "checkpoint") return Commands::Word::Checkpoint;
    return {};
}

} // namespace

struct Commands::Shared {
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    std::vector<Word> words;
    bool stop = false, ended = false;
    int wake[2] = {-1, -1}; ///< a pipe; a byte in it sends the reader away

    Shared()
    {
        if (pipe(wake) != 0) throw std::system_error(errno, std::generic_category(), "pipe for commands");
    }
    ~Shared()
    {
        close(wake[0]);
        close(wake[1]);
    }

    void line(const std::string &text)
    {
        const std::lock_guard lock(mutex);
        if (text == "stop")
            stop = true;
        else if (const auto word = parse(text))
            words.push_back(*word);
        else if (!text.empty())
            std::fprintf(stderr, "unknown command on stdin, ignored\n");
        changed.notify_all();
    }
    void end()
    {
        const std::lock_guard lock(mutex);
        ended = stop = true;
        changed.notify_all();
    }
    void read(int fd)
    {
        std::string pending;
        char buffer[256];
        for (;;) {
            pollfd waiting[2] = {{fd, POLLIN, 0}, {wake[0], POLLIN, 0}};
            if (poll(waiting, 2, -1) < 0 && errno != EINTR) break;
            if (waiting[1].revents) return;
            if (!waiting[0].revents) continue;
            const ssize_t n = ::read(fd, buffer, sizeof buffer);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) break;
            for (ssize_t i = 0; i < n; ++i) {
                if (buffer[i] == '\n') {
                    line(pending);
                    pending.clear();
                } else if (pending.size() < 64 && buffer[i] != '\r') {
                    pending += buffer[i];
                }
            }
        }
        end();
    }
};

Commands::Commands(int fd) : m_shared(std::make_unique<Shared>())
{
    if (fd >= 0) m_reader = std::thread([this, fd] { m_shared->read(fd); });
}

Commands::~Commands()
{
    const char byte = 0;
    if (::write(m_shared->wake[1], &byte, 1) < 0) std::perror("pipe for commands");
    if (m_reader.joinable()) m_reader.join();
}

std::int64_t Commands::ticket() const
{
    const std::lock_guard lock(m_shared->mutex);
    return stopRequested || m_shared->stop ? kStop : std::int64_t(m_shared->words.size());
}

bool Commands::isStop(std::int64_t agreed) { return agreed == kStop; }

std::vector<Commands::Word> Commands::take(std::int64_t agreed, std::chrono::milliseconds patience)
{
    if (isStop(agreed)) return {};
    std::unique_lock lock(m_shared->mutex);
    const auto count = std::size_t(agreed);
    m_shared->changed.wait_for(lock, patience, [&] { return m_shared->words.size() >= count || m_shared->ended; });
    const std::size_t end = std::min(count, m_shared->words.size());
    std::vector<Word> words(m_shared->words.begin() + std::ptrdiff_t(std::min(m_taken, end)),
                            m_shared->words.begin() + std::ptrdiff_t(end));
    m_taken = std::max(m_taken, end);
    return words;
}

void Commands::wait(std::chrono::milliseconds limit) const
{
    std::unique_lock lock(m_shared->mutex);
    m_shared->changed.wait_for(lock, limit,
                               [&] { return m_shared->words.size() > m_taken || m_shared->stop || stopRequested; });
}

void Commands::requestStop() { stopRequested = true; }

} // namespace parallax::train
