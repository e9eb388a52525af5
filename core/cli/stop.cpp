// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/output.h"
#include "core/runs/runrecord.h"
#include "core/session/control.h"
#include "core/session/host.h"
#include "core/session/qtconvert.h"

#include <QDeadlineTimer>
#include <QThread>

#include <csignal>

namespace parallax::cli {

namespace {

constexpr int lookEveryMs = 50;

bool live(const runs::RunRecord &record)
{
    return record.state == runs::State::Running || record.state == runs::State::Paused;
}

/// By its socket; where that is gone but the supervisor is not, by a signal.
Status askToStop(const runs::RunRecord &record, bool now)
{
    const QString command = now ? QStringLiteral("kill") : QStringLiteral("stop");
    Status sent = session::sendCommandAndWait(session::toQString(record.socket), command);
    if (sent || record.host != session::hostName()) return sent;
    const auto start = runs::processStart(record.pid);
    if (!start || *start != record.pidStart) return sent;
    const int times = now ? 2 : 1; // the second signal means at once
    for (int i = 0; i < times; ++i)
        if (::kill(pid_t(record.pid), SIGTERM) != 0) return sent;
    return {};
}

int stop(const Arguments &arguments)
{
    const auto folder = namedRun(arguments);
    if (!folder) return fail(arguments, folder.error());
    auto record = runs::RunRecord::load(*folder);
    if (!record) return fail(arguments, record.error());
    runs::markIfDead(*folder, *record);
    if (!live(*record)) return fail(arguments, {"It is not running: it is " + toString(record->state), folder->name(), {}});
    if (const Status asked = askToStop(*record, arguments.has("now")); !asked) return fail(arguments, asked.error(), 1);
    const auto seconds = text::parseInt(arguments.value("wait", "600")).value_or(600);
    const QDeadlineTimer deadline(seconds * 1000);
    while (live(*record) && !deadline.hasExpired()) {
        QThread::msleep(lookEveryMs);
        auto next = runs::RunRecord::load(*folder);
        if (!next) return fail(arguments, next.error(), 1);
        record = std::move(next);
        runs::markIfDead(*folder, *record);
    }
    if (live(*record) && seconds > 0)
        return fail(arguments, {"It has not ended yet", folder->name(), "Look at its log, or: parallax stop --now"}, 1);
    if (arguments.json())
        printJson({{"run", folder->path().string()}, {"state", toString(record->state)}});
    else
        printLine(live(*record) ? "Asked to stop" : "It is " + toString(record->state) + ": " + record->state_reason);
    return 0;
}

} // namespace

Command stopCommand()
{
    Command command;
    command.name = "stop";
    command.operands = "RUN";
    command.summary = "Stop a run after a checkpoint, so that it can be resumed.";
    command.details = "RUN: a folder, the start of a run's name or id, or last.";
    command.example = "parallax stop last";
    command.options = {{"now", "", "At once, without a checkpoint."},
                       {"wait", "SECONDS", "How long to wait for its end (default 600; 0: only ask)."},
                       runsOption(),
                       jsonOption()};
    command.run = stop;
    return command;
}

} // namespace parallax::cli
