// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/runs/runrecord.h"
#include "core/session/commandserver.h"
#include "core/session/postmortem.h"
#include "core/session/runreader.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <memory>
#include <string>
#include <vector>

namespace parallax::session {

class RankProcess;

/// Exit codes of `parallax train` (ARCHITECTURE.md).
namespace exitcode {
inline constexpr int finished = 0, failed = 1, usage = 2, stopped = 3, interrupted = 130;
}

/// Runs the ranks of one launch, from the first process to the last: passes commands on, and when one rank dies ends the
/// others, says which died of what, and leaves no process behind. The only writer of the run's run.json meanwhile.
class Supervisor : public QObject
{
    Q_OBJECT
public:
    struct Patience {
        int othersMs = 300;   ///< after the first failure, for the siblings to end by themselves and say why
        int termMs = 3'000;   ///< from SIGTERM to SIGKILL
        int stopMs = 120'000; ///< without any event after "stop", before the ranks are killed
        double silenceS = 0;  ///< without any event of any rank, before the launch counts as hung; 0: never
    };

    explicit Supervisor(runs::RunFolder folder, QObject *parent = nullptr);
    ~Supervisor() override;
    void setPatience(const Patience &patience) { m_patience = patience; }

    /// Takes the run over (run.json, socket) and starts its ranks, from the newest checkpoint when `resume`.
    /// On an Error nothing was started.
    Status start(bool resume);

    /// Checkpoint, then end. `reason` goes to run.json; `exitCode` is that of a clean stop.
    void stop(const std::string &reason, int exitCode = exitcode::stopped);
    /// End the ranks at once, without a checkpoint.
    void killNow(const std::string &reason, int exitCode = exitcode::stopped);
    Status pause();
    Status resumeTraining();
    Status checkpoint();

    const runs::RunRecord &record() const { return m_record; }
    const runs::RunFolder &folder() const { return m_folder; }

Q_SIGNALS:
    void finished(int exitCode); ///< once: all ranks are gone and run.json says how it ended

private:
    enum class Phase { Idle, Running, Stopping, Failing, Killing, Ended };

    Status takeOver(bool resume);
    void startRanks(bool resume);
    void rankEnded(RankProcess *rank);
    void fail();
    void killAll();
    void tick();
    bool eventsArrived();
    void checkHang();
    void conclude();
    int judge();
    void nameSilence(runs::Failure &failure) const;
    Status command(const std::string &name);
    void sendAll(const QByteArray &word);
    Status setState(runs::State state);
    void releaseFiles();

    runs::RunFolder m_folder;
    runs::RunRecord m_record;
    Patience m_patience;
    CommandServer m_server;
    QTimer m_timer;
    std::vector<std::unique_ptr<RankProcess>> m_ranks;
    std::vector<RankEnd> m_ends; ///< by rank
    std::vector<FileStamp> m_eventStamps;
    Phase m_phase = Phase::Idle;
    QElapsedTimer m_inPhase, m_sinceEvent;
    bool m_terminated = false, m_hung = false, m_stopIgnored = false;
    std::int64_t m_endCount = 0;
    std::string m_stopReason;
    int m_stopCode = exitcode::stopped;
};

} // namespace parallax::session
