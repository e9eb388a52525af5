// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/summary.h"

#include <QObject>
#include <QString>
#include <QThread>

#include <memory>
#include <vector>

namespace parallax::session {

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
    struct Update;
    class Reader;
    void take(Update update);

    QString m_folder;
    std::vector<RunSummary> m_runs;
    QThread m_thread;
    Reader *m_reader = nullptr;
    bool m_read = false;
};

} // namespace parallax::session
