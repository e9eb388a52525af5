// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/runfollower.h"

#include <filesystem>
#include <map>

namespace parallax::session {

/// Size and time of a file: equal stamps mean that there is nothing new to read.
struct FileStamp {
    std::uintmax_t size = 0;
    std::int64_t time = 0; ///< ns since 1970; 0: no such file
    bool operator==(const FileStamp &) const = default;
    static FileStamp of(const std::filesystem::path &file);
};

/// Reads one run bit by bit into a RunData. No thread of its own: RunFollower and readRun drive it.
class RunReader
{
public:
    explicit RunReader(runs::RunFolder folder) : m_folder(std::move(folder)) { }
    /// Reads what is new, up to about `budgetMs`. Returns whether anything was.
    bool poll(int budgetMs);
    bool exists() const;
    const RunData &data() const { return m_data; }

private:
    bool readRecord();
    bool readEvents(int budgetMs);
    bool forgetEvents();
    void findRanks();

    runs::RunFolder m_folder;
    RunData m_data;
    FileStamp m_recordStamp, m_configStamp;
    std::map<int, runs::EventReader> m_ranks;
};

} // namespace parallax::session
