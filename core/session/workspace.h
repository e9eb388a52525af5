// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runs/runrecord.h"

#include <QObject>
#include <QString>
#include <QThread>

#include <memory>
#include <vector>

namespace parallax::session {

/// What a table of runs shows of one run.
struct RunSummary {
    QString folder;                       ///< path
    runs::RunRecord record;
    QString dataset, method, backbone;    ///< labels from config.json
    double epoch = 0;                     ///< done
    int epochs = 0;
    std::int64_t step = 0, steps = 0;
    double lastKnn = 0, bestKnn = 0, untrainedKnn = 0; ///< NaN: none yet; untrained is epoch 0's
    double loss = 0, imagesPerSecond = 0, secondsLeft = 0, duration = 0; ///< NaN: unknown
    std::vector<float> lossLine;          ///< about 60 points, for a sparkline
    QString problem;                      ///< unreadable run folder: why
    bool operator==(const RunSummary &) const = default;
};

/// Reads one run, all of it; what is not there stays NaN. Never fails: see `problem`.
RunSummary summarize(const runs::RunFolder &folder);

/// The runs of one folder, kept up to date: a file watcher and a one-second timer, read in a thread of its own. Dead runs
/// are marked interrupted on the way. Only runs whose files changed are read again.
class Workspace : public QObject
{
    Q_OBJECT
public:
    explicit Workspace(const QString &runsFolder, QObject *parent = nullptr);
    ~Workspace() override;
    QString folder() const { return m_folder; }
    const std::vector<RunSummary> &runs() const { return m_runs; } ///< newest first
    const RunSummary *find(const QString &folder) const;
    void refresh(); ///< soon, in the thread

Q_SIGNALS:
    void changed();   ///< runs() is another list, or entries of it changed
    void firstRead(); ///< once, also when there is nothing

private:
    class Reader;
    QString m_folder;
    std::vector<RunSummary> m_runs;
    QThread m_thread;
    Reader *m_reader = nullptr;
};

} // namespace parallax::session
