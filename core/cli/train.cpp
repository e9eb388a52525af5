// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/configlayers.h"
#include "core/cli/output.h"
#include "core/cli/supervise.h"
#include "core/session/control.h"
#include "core/session/launch.h"
#include "core/session/qtconvert.h"
#include "core/session/supervisor.h"

#include <QCoreApplication>

namespace parallax::cli {

namespace {

constexpr std::uintmax_t littleSpace = std::uintmax_t(1) << 30;

std::string member(const Json &plan, const char *key)
{
    const auto found = plan.find(key);
    return found == plan.end() || found->is_structured()
        ? "?"
        : text::printable(found->is_string() ? found->get<std::string>() : found->dump());
}

std::string batchText(const Json &plan)
{
    const auto shares = plan.find("batch_per_rank");
    if (shares == plan.end() || !shares->is_array() || shares->empty()) return "?";
    std::vector<std::string> parts;
    std::int64_t sum = 0;
    for (const Json &share : *shares) {
        if (!share.is_number_integer()) return "?";
        parts.push_back(std::to_string(share.get<std::int64_t>()));
        sum += share.get<std::int64_t>();
    }
    const auto accumulate = plan.find("accumulate");
    const bool inParts = accumulate != plan.end() && accumulate->is_number_integer() && *accumulate > 1;
    const std::string times = inParts ? accumulate->dump() + " parts of " : "";
    if (parts.size() > 8) return times + std::to_string(sum) + " over " + std::to_string(parts.size()) + " ranks";
    return times + std::to_string(sum) + (parts.size() > 1 ? " = " + text::join(parts, " + ") : "");
}

void tellPlan(const session::Launch &launch, const runs::RunFolder &folder)
{
    const Json &plan = launch.plan;
    printLine(toned(folder.name(), Tone::Bold));
    printLine("  images  " + member(plan, "images") + " to train on, " + member(plan, "val_images") + " to evaluate on");
    printLine("  batch   " + batchText(plan) + "; learning rate after scaling " + member(plan, "lr_scaled"));
    printLine("  steps   " + member(plan, "steps") + ", " + member(plan, "steps_per_epoch") + " an epoch");
    std::vector<std::string> map;
    for (std::size_t rank = 0; rank < launch.devices.size(); ++rank)
        map.push_back("rank " + std::to_string(rank) + " on " + text::printable(launch.devices[rank]));
    printLine("  devices " + text::join(map, ", "));
    if (const auto remark = plan.find("remark");
        remark != plan.end() && remark->is_string() && !member(plan, "remark").empty())
        printLine("  note    " + member(plan, "remark"));
}

void warn(const std::vector<std::string> &warnings, const std::filesystem::path &runs)
{
    for (const std::string &warning : warnings) note("warning: " + text::printable(warning));
    const std::uintmax_t free = paths::freeSpace(runs);
    if (free < littleSpace)
        note("warning: only " + text::bytes(free) + " are free where the run is written: " + text::printable(runs.string()));
}

int train(const Arguments &arguments)
{
    auto layers = configLayers(arguments);
    if (!layers) return fail(arguments, layers.error());
    session::LaunchRequest request;
    request.layers = std::move(layers).value();
    request.assignments = arguments.values("set");
    request.runs = runsFolder(arguments);
    request.name = arguments.value("name");
    for (const QString &word : QCoreApplication::arguments()) request.command.push_back(word.toStdString());
    const auto launch = session::checkLaunch(request);
    if (!launch) return fail(arguments, launch.error());
    const auto folder = session::makeRun(request, *launch);
    if (!folder) return fail(arguments, folder.error());
    const bool quiet = arguments.json();
    if (!quiet) {
        tellPlan(*launch, *folder);
        warn(launch->warnings, request.runs);
    }
    if (arguments.has("detach")) return superviseDetached(arguments, *folder, false);
    return superviseHere(arguments, *folder, false, quiet ? Show::Json : Show::Progress, launch->warnings);
}

/// A paused run that is alive only needs the word.
int resumePaused(const Arguments &arguments, const runs::RunRecord &record)
{
    const Status sent = session::sendCommandAndWait(session::toQString(record.socket), QStringLiteral("resume"));
    if (!sent) return fail(arguments, sent.error(), session::exitcode::failed);
    if (arguments.json())
        printJson({{"resumed", record.id}});
    else
        printLine("The paused run goes on");
    return 0;
}

int resume(const Arguments &arguments)
{
    const auto folder = namedRun(arguments);
    if (!folder) return fail(arguments, folder.error());
    auto record = runs::RunRecord::load(*folder);
    if (!record) return fail(arguments, record.error());
    const std::string name = folder->name();
    runs::markIfDead(*folder, *record);
    if (record->state == runs::State::Paused) return resumePaused(arguments, *record);
    if (record->state == runs::State::Running)
        return fail(arguments, {"It is running", name, "Stop it first: parallax stop " + name});
    if (record->state == runs::State::Finished)
        return fail(arguments, {"It is finished: there is nothing to resume", name, {}});
    const auto config = config::readFile(folder->config().string());
    if (!config) return fail(arguments, config.error());
    const auto plan = session::askWorker(QStringLiteral("plan"), *config);
    if (!plan) return fail(arguments, plan.error());
    const bool fromCheckpoint = !folder->listCheckpoints().empty();
    if (!arguments.json()) {
        printLine(toned(name, Tone::Bold));
        const std::string from = fromCheckpoint ? "step " + std::to_string(folder->listCheckpoints().back().step)
                                                : "the beginning: there is no checkpoint yet";
        printLine("  from    " + from);
    }
    if (arguments.has("detach")) return superviseDetached(arguments, *folder, fromCheckpoint);
    return superviseHere(arguments, *folder, fromCheckpoint, arguments.json() ? Show::Json : Show::Progress);
}

} // namespace

Command trainCommand()
{
    Command command;
    command.name = "train";
    command.summary = "Train a network on images, and show how it goes.";
    command.details =
        "Everything is checked before a run folder is made. Ctrl-C once: checkpoint and stop; twice: end now.\n"
        "Exit codes: 0 finished, 1 failed, 2 wrong usage or configuration, 3 stopped by request, 130 Ctrl-C.";
    command.example = "parallax train --preset demo --data ~/Pictures --set train.epochs=20 --ranks 2";
    command.options = configOptions();
    command.options.push_back({"name", "TEXT", "A name of your own for the run."});
    command.options.push_back({"detach", "", "Leave it running in the background and return at once."});
    command.options.push_back(runsOption());
    command.options.push_back(jsonOption());
    command.run = train;
    return command;
}

Command resumeCommand()
{
    Command command;
    command.name = "resume";
    command.operands = "RUN";
    command.summary = "Go on with a run from its newest checkpoint; wakes a paused one.";
    command.details = "RUN: a folder, the start of a run's name or id, or last.";
    command.example = "parallax resume last";
    command.options = {{"detach", "", "Leave it running in the background and return at once."}, runsOption(), jsonOption()};
    command.run = resume;
    return command;
}

} // namespace parallax::cli
