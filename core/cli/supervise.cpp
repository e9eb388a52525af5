// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/supervise.h"

#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/output.h"
#include "core/cli/progress.h"
#include "core/config/schema.h"
#include "core/session/host.h"
#include "core/session/job.h"
#include "core/session/plot.h"
#include "core/session/qtconvert.h"
#include "core/session/signals.h"
#include "core/session/supervisor.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QEventLoop>
#include <QProcess>
#include <QThread>

#include <csignal>
#include <memory>

namespace parallax::cli {

namespace {

using session::Supervisor;

/// The engine's collectives give up after distributed.timeout_s and say so; the supervisor's own patience is a bit longer.
Supervisor::Patience patienceFor(const runs::RunFolder &folder)
{
    constexpr double margin = 15;
    Supervisor::Patience patience;
    const auto config = config::readFile(folder.config().string());
    const config::Json *timeout = config ? config::lookup(*config, "distributed.timeout_s") : nullptr;
    if (timeout && timeout->is_number()) patience.silenceS = timeout->get<double>() + margin;
    return patience;
}

/// Ctrl-C and its relatives.
void handleSignal(Supervisor &supervisor, Progress *progress, int signal, int count)
{
    const int code = signal == SIGINT ? session::exitcode::interrupted : session::exitcode::stopped;
    if (count > 1) {
        if (progress) progress->say("Ending now, without a checkpoint");
        return supervisor.killNow("ended at once by user", code);
    }
    if (progress) progress->say("Stopping after a checkpoint; Ctrl-C again ends at once");
    supervisor.stop(signal == SIGINT ? "stopped by user" : "stopped by " + session::signalName(signal), code);
}

void tellFailure(const runs::RunRecord &record, const runs::RunFolder &folder)
{
    const runs::Failure &failure = *record.failure;
    printLine(toned("failed", Tone::Bad) + ": " + text::printable(failure.summary()));
    if (failure.log.empty()) return;
    printLine("the end of " + folder.log(std::max(0, failure.rank)).string() + ":");
    for (const std::string &line : failure.log) printLine("  " + text::printable(line));
}

void tellEnd(const Supervisor &supervisor, const session::RunSummary &summary)
{
    const runs::RunRecord &record = supervisor.record();
    const runs::RunFolder &folder = supervisor.folder();
    const std::string took = " after " + span(summary.duration);
    if (record.failure)
        tellFailure(record, folder);
    else if (record.state == runs::State::Finished)
        printLine(toned("finished", Tone::Good) + took);
    else
        printLine(toned(toString(record.state), Tone::Warning) + took + ": " + record.state_reason);
    if (const std::string knn = knnText(summary); !knn.empty()) printLine("  result  " + knn);
    printLine("  run     " + text::printable(folder.path().string()));
    std::error_code ignored;
    if (std::filesystem::exists(folder.plots(), ignored)) printLine("  plots   " + text::printable(folder.plots().string()));
    if (record.state != runs::State::Finished) printLine("  go on   parallax resume " + text::printable(folder.name()));
}

Json endJson(const Supervisor &supervisor, const session::RunSummary &summary)
{
    Json json = summary.toJson();
    json["record"] = supervisor.record().toJson();
    return {{"run", supervisor.folder().path().string()},
            {"state", toString(supervisor.record().state)},
            {"reason", supervisor.record().state_reason},
            {"summary", json}};
}

/// A run whose supervisor never began would stay queued for ever.
int failToStart(const Arguments &arguments, const runs::RunFolder &folder, const Error &error)
{
    auto record = runs::RunRecord::load(folder);
    if (record && record->state == runs::State::Queued) {
        runs::Failure failure;
        failure.what = error.what;
        failure.where = error.where;
        failure.hint = error.hint;
        record->state = runs::State::Failed;
        record->state_reason = failure.summary();
        record->failure = std::move(failure);
        record->ended = session::wallClock();
        if (const Status saved = record->save(folder); !saved) note("parallax: " + saved.error().message());
    }
    return fail(arguments, error);
}

} // namespace

int superviseHere(const Arguments &arguments, const runs::RunFolder &folder, bool resume, Show show,
                  const std::vector<std::string> &told)
{
    Supervisor supervisor(folder);
    supervisor.setPatience(patienceFor(folder));
    session::UnixSignals unixSignals;
    std::unique_ptr<Progress> progress;
    if (show == Show::Progress) progress = std::make_unique<Progress>(folder, told);
    int received = 0, code = session::exitcode::failed;
    QEventLoop loop;
    QObject::connect(&unixSignals, &session::UnixSignals::received, &supervisor,
                     [&](int signal) { handleSignal(supervisor, progress.get(), signal, ++received); });
    QObject::connect(&supervisor, &Supervisor::finished, &loop, [&](int ended) {
        code = ended;
        loop.quit();
    });
    if (const Status started = supervisor.start(resume); !started) return failToStart(arguments, folder, started.error());
    loop.exec();
    if (progress) progress->finish();
    const Status plotted = session::writePlots(folder);
    if (show == Show::Nothing) return code;
    const session::RunSummary summary = session::summarize(folder);
    if (show == Show::Json)
        printJson(endJson(supervisor, summary));
    else
        tellEnd(supervisor, summary);
    if (!plotted) note("parallax: no plots: " + plotted.error().message());
    return code;
}

int superviseDetached(const Arguments &arguments, const runs::RunFolder &folder, bool resume)
{
    constexpr int patienceMs = 15'000, lookEveryMs = 20;
    const auto before = runs::RunRecord::load(folder);
    QProcess process;
    process.setProgram(QCoreApplication::applicationFilePath());
    QStringList words{QStringLiteral("supervise"), session::toQString(folder.path())};
    if (resume) words << QStringLiteral("--resume");
    process.setArguments(words);
    process.setStandardInputFile(QProcess::nullDevice());
    process.setStandardOutputFile(QProcess::nullDevice());
    process.setStandardErrorFile(session::toQString(folder.supervisorLog()));
    qint64 pid = 0;
    if (!before) return fail(arguments, before.error());
    if (!process.startDetached(&pid))
        return failToStart(arguments, folder,
                           {"The supervisor cannot be started: " + process.errorString().toStdString(), {}, {}});
    const QDeadlineTimer deadline(patienceMs);
    while (!deadline.hasExpired()) {
        const auto now = runs::RunRecord::load(folder);
        if (now && now->attempts.size() > before->attempts.size()) {
            const std::string path = folder.path().string();
            if (arguments.json())
                printJson({{"run", path}, {"pid", pid}});
            else
                printLine("Started in the background: " + text::printable(path) + "\n  stop with  parallax stop " +
                          folder.name());
            return 0;
        }
        if (!runs::processStart(pid)) break;
        QThread::msleep(lookEveryMs);
    }
    const auto said = session::lastLines(folder.supervisorLog(), 3);
    return failToStart(arguments, folder,
                       {"The supervisor did not take the run over: " + text::join(said, " "), folder.path().string(), {}});
}

Command superviseCommand()
{
    Command command;
    command.name = "supervise";
    command.operands = "RUN";
    command.summary = "Runs the ranks of a run that was made by train --detach.";
    command.example = "parallax supervise RUN --resume";
    command.options = {{"resume", "", "From the newest checkpoint."}};
    command.hidden = true;
    command.run = [](const Arguments &arguments) {
        return superviseHere(arguments, runs::RunFolder(arguments.operand()), arguments.has("resume"), Show::Nothing);
    };
    return command;
}

} // namespace parallax::cli
