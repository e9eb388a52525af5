// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace parallax::datasets {

/// How a long piece of work tells of itself and is asked to end. Both functions may be empty.
struct Hooks {
    /// What is being done ("loading x.tar.gz", "checking x.tar.gz", "unpacking"), how far it is and how far it goes, in bytes
    /// (0: not known). Called many times a second.
    std::function<void(const std::string &what, std::uint64_t done, std::uint64_t total)> progress;
    /// A line worth keeping: "the connection broke at 12.3 MB: going on from there".
    std::function<void(const std::string &line)> note;
    const std::atomic<bool> *cancelled = nullptr;

    bool isCancelled() const { return cancelled && *cancelled; }
    void tell(const std::string &what, std::uint64_t done, std::uint64_t total) const
    {
        if (progress) progress(what, done, total);
    }
    void say(const std::string &line) const
    {
        if (note) note(line);
    }
};

} // namespace parallax::datasets
