// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/metrics/series.h"
#include "core/runs/events.h"
#include "core/runs/runrecord.h"

#include <QObject>
#include <QString>
#include <QThread>

#include <memory>
#include <vector>

namespace parallax::session {

struct LogLine {
    double t = 0;
    int rank = 0;
    QString level; ///< info, warning, error
    QString text;
};

/// Everything the events of a run say so far.
struct RunData {
    runs::RunRecord record;
    runs::Json config;
    runs::Json plan;           ///< fields of the last plan event
    QString activity;          ///< fields.state of the last state event
    metrics::SeriesSet series; ///< loss, lr, images_per_s, data_wait, knn_top1 … ; per rank: rss_mb/r0, step_ms/r1 …
    struct Mark {
        double step, epoch, time;
        QString kind, text; ///< checkpoint, evaluation, resume, embedding, warning, failure
    };
    std::vector<Mark> marks;
    std::vector<LogLine> log;
    std::int64_t skippedLines = 0;
    double epoch = 0;
    std::int64_t step = 0;
};

/// Adds events of one rank to `data`: rank 0's figures become "<name>", per-rank figures (memory, step_ms) "<name>/r<rank>".
void apply(RunData &data, int rank, const std::vector<runs::Event> &events);

/// All of one run that lies on disk now, waiting: for the command line. What cannot be read stays empty.
RunData readRun(const runs::RunFolder &folder);

/// Follows one run live: reads in a thread of its own, at most 10 times a second, hands over whole values.
class RunFollower : public QObject
{
    Q_OBJECT
public:
    explicit RunFollower(const QString &folder, QObject *parent = nullptr);
    ~RunFollower() override;
    QString folder() const { return m_folder; }
    /// The newest snapshot; shared, never changed once handed over. Never null: empty before the first read.
    std::shared_ptr<const RunData> data() const { return m_data; }

Q_SIGNALS:
    void updated();
    void vanished(); ///< the folder was deleted

private:
    class Reader;
    QString m_folder;
    std::shared_ptr<const RunData> m_data;
    QThread m_thread;
    Reader *m_reader = nullptr;
};

} // namespace parallax::session
