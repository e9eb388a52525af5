// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/supervisor.h"

#include "core/base/text.h"
#include "core/session/host.h"
#include "core/session/qtconvert.h"
#include "core/session/rankprocess.h"

#include <QFile>

#include <algorithm>
#include <utility>

namespace parallax::session {

namespace {

constexpr int tickMs = 100;

bool failedEnd(const RankEnd &end)
{
    return end.signal != 0 || (end.exitCode != exitcode::finished && end.exitCode != exitcode::stopped);
}

} // namespace

Supervisor::Supervisor(runs::RunFolder folder, QObject *parent)
    : QObject(parent), m_folder(std::move(folder)),
      m_server([this](const std::string &name) { return command(name); }, [this] { return toString(m_record.state); }, this),
      m_timer(this)
{
    m_timer.setInterval(tickMs);
    connect(&m_timer, &QTimer::timeout, this, [this] { tick(); });
}

Supervisor::~Supervisor() = default;

Status Supervisor::takeOver(bool resume)
{
    auto record = runs::RunRecord::load(m_folder);
    if (!record) return record.error();
    m_record = std::move(record).value();
    if (Status status = m_server.listen(m_record.id); !status) return status;
    const auto checkpoints = m_folder.listCheckpoints();
    m_record.socket = m_server.path().toStdString();
    m_record.pid = ownPid();
    m_record.pidStart = runs::processStart(m_record.pid).value_or(0);
    m_record.host = hostName();
    m_record.failure.reset();
    m_record.state_reason.clear();
    m_record.ended = 0;
    m_record.attempts.push_back({wallClock(), resume && !checkpoints.empty() ? checkpoints.back().step : 0});
    reserveSpace(m_folder.reserve());
    return setState(runs::State::Running);
}

Status Supervisor::start(bool resume)
{
    if (Status status = takeOver(resume); !status) return status;
    m_phase = Phase::Running;
    m_inPhase.start();
    m_sinceEvent.start();
    startRanks(resume);
    m_timer.start();
    return {};
}

void Supervisor::startRanks(bool resume)
{
    const QString store = toQString(m_folder.rendezvous(m_record.attempts.size()));
    QFile::remove(store);
    m_ends.resize(std::size_t(m_record.world));
    m_eventStamps.resize(std::size_t(m_record.world));
    for (int rank = 0; rank < m_record.world; ++rank) {
        m_ends[std::size_t(rank)].rank = rank;
        const std::size_t place = std::size_t(rank);
        const std::string device = place < m_record.devices.size() ? m_record.devices[place] : "cpu";
        QStringList arguments{QStringLiteral("train"), QStringLiteral("--run"), toQString(m_folder.path())};
        arguments << QStringLiteral("--rank") << QString::number(rank);
        arguments << QStringLiteral("--world") << QString::number(m_record.world);
        arguments << QStringLiteral("--store") << store << QStringLiteral("--device") << toQString(device);
        if (resume) arguments << QStringLiteral("--resume");
        auto process = std::make_unique<RankProcess>(rank);
        connect(process.get(), &RankProcess::ended, this, [this, raw = process.get()] { rankEnded(raw); });
        process->start(arguments, m_folder.log(rank));
        m_ranks.push_back(std::move(process));
    }
}

void Supervisor::rankEnded(RankProcess *rank)
{
    RankEnd &end = m_ends[std::size_t(rank->rank())];
    end.signal = rank->signal();
    end.exitCode = rank->exitCode();
    end.byUs = rank->endedByUs();
    end.startError = rank->startError();
    end.order = m_endCount++;
    if (failedEnd(end) && (m_phase == Phase::Running || m_phase == Phase::Stopping)) fail();
    if (m_endCount == std::int64_t(m_ranks.size())) conclude();
}

/// One rank has failed: the others cannot go on. They get a moment to say what they saw, then SIGTERM, then SIGKILL (tick).
void Supervisor::fail()
{
    for (const auto &rank : m_ranks)
        if (rank->stopped()) m_ends[std::size_t(rank->rank())].stopped = true;
    m_phase = Phase::Failing;
    m_terminated = false;
    m_inPhase.restart();
}

void Supervisor::killAll()
{
    for (const auto &rank : m_ranks) rank->kill();
}

bool Supervisor::eventsArrived()
{
    bool news = false;
    for (std::size_t rank = 0; rank < m_eventStamps.size(); ++rank) {
        const FileStamp now = FileStamp::of(m_folder.events(int(rank)));
        news = std::exchange(m_eventStamps[rank], now) != now || news;
    }
    return news;
}

void Supervisor::tick()
{
    if (m_phase == Phase::Failing) {
        const qint64 elapsed = m_inPhase.elapsed();
        if (!m_terminated && elapsed > m_patience.othersMs) {
            m_terminated = true;
            for (const auto &rank : m_ranks) rank->terminate();
        } else if (elapsed > m_patience.othersMs + m_patience.termMs) {
            killAll();
        }
        return;
    }
    if (m_phase != Phase::Running && m_phase != Phase::Stopping) return;
    if (eventsArrived())
        m_sinceEvent.restart();
    else
        checkHang();
}

void Supervisor::checkHang()
{
    const qint64 silent = m_sinceEvent.elapsed();
    if (m_phase == Phase::Stopping && std::min(silent, m_inPhase.elapsed()) > m_patience.stopMs) {
        m_stopIgnored = true;
        m_phase = Phase::Killing;
        return killAll();
    }
    const bool watched = m_patience.silenceS > 0 && m_record.world > 1 && m_record.state == runs::State::Running;
    if (m_phase != Phase::Running || !watched || double(silent) < 1000 * m_patience.silenceS) return;
    m_hung = true;
    fail();
    m_inPhase.restart();
}

void Supervisor::stop(const std::string &reason, int exitCode)
{
    if (m_phase != Phase::Running) return;
    m_phase = Phase::Stopping;
    m_inPhase.restart();
    m_stopReason = reason;
    m_stopCode = exitCode;
    sendAll("stop");
}

void Supervisor::killNow(const std::string &reason, int exitCode)
{
    if (m_phase == Phase::Idle || m_phase == Phase::Ended) return;
    if (m_phase != Phase::Failing) { // a failure keeps its reason
        m_phase = Phase::Killing;
        m_stopReason = reason;
        m_stopCode = exitCode;
    }
    killAll();
}

Status Supervisor::pause()
{
    if (m_phase != Phase::Running) return Error{"The run is ending", {}, {}};
    if (m_record.state == runs::State::Paused) return {};
    sendAll("pause");
    return setState(runs::State::Paused);
}

Status Supervisor::resumeTraining()
{
    if (m_phase != Phase::Running) return Error{"The run is ending", {}, {}};
    if (m_record.state == runs::State::Running) return {};
    sendAll("resume");
    m_sinceEvent.restart();
    return setState(runs::State::Running);
}

Status Supervisor::checkpoint()
{
    if (m_phase != Phase::Running) return Error{"The run is ending", {}, {}};
    sendAll("checkpoint");
    return {};
}

Status Supervisor::command(const std::string &name)
{
    if (name == "status") return {};
    if (name == "pause") return pause();
    if (name == "resume") return resumeTraining();
    if (name == "checkpoint") return checkpoint();
    if (name == "stop") {
        stop("stopped by user");
        return {};
    }
    if (name == "kill") {
        killNow("ended at once by user");
        return {};
    }
    return Error{"Unknown command", {}, "There is: pause, resume, checkpoint, stop, kill, status"};
}

void Supervisor::sendAll(const QByteArray &word)
{
    for (const auto &rank : m_ranks) rank->send(word);
}

Status Supervisor::setState(runs::State state)
{
    m_record.state = state;
    return m_record.save(m_folder);
}

/// Nothing died by itself: a rank that was found stopped is the reason, else the one that was silent longest.
void Supervisor::nameSilence(runs::Failure &failure) const
{
    if (failure.rank >= 0 && m_ends[std::size_t(failure.rank)].stopped) return;
    const auto oldest = std::min_element(m_eventStamps.begin(), m_eventStamps.end(),
                                         [](const FileStamp &a, const FileStamp &b) { return a.time < b.time; });
    failure.rank = int(oldest - m_eventStamps.begin());
    failure.what = "It hangs: no rank wrote an event for " + text::duration(m_patience.silenceS);
    failure.hint = "Look at its log; distributed.timeout_s sets how long to wait";
    failure.log = lastLines(m_folder.log(failure.rank), 20);
}

/// State, reason and exit code of a launch whose ranks have all ended.
int Supervisor::judge()
{
    const bool failed = m_phase != Phase::Killing && (m_hung || std::any_of(m_ends.begin(), m_ends.end(), failedEnd));
    if (failed) {
        m_record.state = runs::State::Failed;
        m_record.failure = explain(m_folder, m_ends, m_record.attempts.back().started);
        if (m_hung) nameSilence(*m_record.failure);
        m_record.state_reason = m_record.failure->summary();
        return exitcode::failed;
    }
    const auto asked = [](const RankEnd &end) { return end.exitCode == exitcode::stopped; };
    if (m_phase != Phase::Killing && std::none_of(m_ends.begin(), m_ends.end(), asked)) {
        m_record.state = runs::State::Finished;
        return exitcode::finished;
    }
    m_record.state = runs::State::Interrupted;
    m_record.state_reason = m_stopReason.empty() ? "a rank was asked to stop from outside" : m_stopReason;
    if (m_stopIgnored) m_record.state_reason += "; the ranks did not answer and were killed";
    return m_stopCode;
}

void Supervisor::conclude()
{
    m_timer.stop();
    const int code = judge();
    m_phase = Phase::Ended;
    m_record.ended = wallClock();
    m_record.socket.clear();
    releaseFiles();
    if (const Status saved = m_record.save(m_folder); !saved)
        m_record.state_reason += "; run.json: " + saved.error().message();
    m_server.close();
    emit finished(code);
}

void Supervisor::releaseFiles()
{
    std::error_code ignored;
    std::filesystem::remove(m_folder.reserve(), ignored);
    std::filesystem::remove(m_folder.rendezvous(m_record.attempts.size()), ignored);
}

} // namespace parallax::session
