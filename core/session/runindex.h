// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/summary.h"

#include <map>
#include <optional>
#include <string>

namespace parallax::session {

/// Summaries of ended runs, kept in <runs>/.parallax-index so that a folder of thousands opens without reading every event
/// again: a line a run with its name, the stamps of its files and the summary as JSON, read only when it is asked for. Only
/// a cache: an entry counts while the run's files have the size and time it was made from, the file can be deleted at any
/// time, and a folder that cannot be written just has none.
class RunIndex
{
public:
    explicit RunIndex(std::filesystem::path runs);
    void load();
    /// The summary of the run as it lies on disk now, if it is known.
    std::optional<RunSummary> find(const runs::RunFolder &folder) const;
    void put(const runs::RunFolder &folder, const RunSummary &summary);
    void remove(const std::string &name);
    /// Writes the file if anything changed since the last time.
    void save();

private:
    struct Entry {
        FileStamp record, config, events;
        std::string summary; ///< JSON
    };
    static Entry stampsOf(const runs::RunFolder &folder);
    void take(std::string_view line);

    std::filesystem::path m_runs;
    std::map<std::string, Entry, std::less<>> m_entries; ///< by folder name
    bool m_changed = false;
};

/// Every run below `runs`, newest first, waiting: for the command line. Brings the index up to date.
std::vector<RunSummary> summarizeAll(const std::filesystem::path &runs);

} // namespace parallax::session
