// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace parallax::train {

/// Commands for a run, read from a pipe in a thread of its own: a word a line; the end of the pipe means stop.
///
/// Ranks must act on a command at the same step. All of them are sent the same words in the same order, so they agree on
/// how many words count: the largest number that any of them has received. Stop needs no order and outranks all.
class Commands
{
public:
    enum class Word { Pause, Resume, Checkpoint };

    /// Reads `fd` until its end; -1: no pipe, only requestStop() counts.
    explicit Commands(int fd);
    ~Commands();

    /// What this rank knows, to be agreed on by the largest value over all ranks.
    std::int64_t ticket() const;
    static bool isStop(std::int64_t agreed);
    /// The words up to `agreed` that have not been taken yet. Waits for words that other ranks have already and this one has
    /// not; gives up when the pipe ends or after `patience`.
    std::vector<Word> take(std::int64_t agreed, std::chrono::milliseconds patience = std::chrono::seconds(30));
    /// Blocks until there is a word that was not taken, or a stop, at most `limit`.
    void wait(std::chrono::milliseconds limit) const;

    /// Like a stop word. Safe in a signal handler.
    static void requestStop();

private:
    struct Shared;
    std::unique_ptr<Shared> m_shared;
    std::thread m_reader;
    std::size_t m_taken = 0;
};

} // namespace parallax::train
