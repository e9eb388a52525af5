// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/summary.h"

#include <map>
#include <string>

namespace parallax::session {

/// Summaries of ended runs, kept in <runs>/.parallax-index.json so that a folder of thousands opens without reading every
/// event again. Only a cache: an entry counts while the run's files have the size and time it was made from, the file can
/// be deleted at any time, and a folder that cannot be written just has none.
class RunIndex
{
public:
    explicit RunIndex(std::filesystem::path runs);
    void load();
    /// The summary of the run as it lies on disk now, if it is known.
    const RunSummary *find(const runs::RunFolder &folder) const;
    void put(const runs::RunFolder &folder, const RunSummary &summary);
    void remove(const std::string &name);
    /// Writes the file if anything changed since the last time.
    void save();

private:
    struct Entry {
        FileStamp record, config, events;
        RunSummary summary;
    };
    static Entry stampsOf(const runs::RunFolder &folder);

    std::filesystem::path m_runs;
    std::map<std::string, Entry> m_entries; ///< by folder name
    bool m_changed = false;
};

/// Every run below `runs`, newest first, waiting: for the command line. Brings the index up to date.
std::vector<RunSummary> summarizeAll(const std::filesystem::path &runs);

} // namespace parallax::session
