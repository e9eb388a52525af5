// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/runindex.h"
#include "core/session/summary.h"

#include <QElapsedTimer>
#include <QFileSystemWatcher>
#include <QObject>
#include <QSet>
#include <QString>
#include <QTimer>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace parallax::session {

/// What changed in a workspace since the last time.
struct WorkspaceUpdate {
    std::vector<RunSummary> changed; ///< new runs and new states of known ones
    QSet<QString> removed;           ///< folders
};

/// The thread side of Workspace. The first scan hands over what a list can show at once, then fills in the figures; both
/// newest runs first and in portions. Ended runs are looked at again only when their folder changes.
class WorkspaceReader : public QObject
{
public:
    using Deliver = std::function<void(WorkspaceUpdate)>;
    WorkspaceReader(std::filesystem::path runs, Deliver deliver);

    void start();
    void scan(bool listAgain = false);
    void cancel() { m_cancelled = true; } ///< from any thread: a scan ends at the next run

private:
    struct Run {
        std::unique_ptr<Summarizer> summarizer; ///< of a run that goes on; ended ones are only in the list
        FileStamp folder;                       ///< of the run's folder when it was last read
        bool ended = false, read = false;
    };

    void list();
    void show(const runs::RunFolder &folder, Run &run);
    void read(const runs::RunFolder &folder, Run &run);
    void put(const RunSummary &summary);
    void handOver(bool evenIfEmpty);
    void handOverPortion(); ///< once enough time has passed
    void saveIndexSeldom();

    std::filesystem::path m_runs;
    Deliver m_deliver;
    RunIndex m_index;
    FileStamp m_listed;                                 ///< of the workspace folder when it was last listed
    std::map<std::string, Run, std::greater<>> m_known; ///< by folder name, newest first
    std::map<QString, RunSummary> m_changed;
    QSet<QString> m_removed;
    QElapsedTimer m_sinceHandOver, m_sinceSave;
    int m_portionMs = 0;
    QFileSystemWatcher m_watcher;
    QTimer m_timer, m_soon;
    bool m_first = true;
    std::atomic<bool> m_cancelled = false;
};

} // namespace parallax::session
