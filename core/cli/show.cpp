// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/output.h"
#include "core/cli/progress.h"
#include "core/runs/evaluation.h"
#include "core/session/qtconvert.h"
#include "core/session/runfollower.h"
#include "core/session/runname.h"
#include "core/session/settings.h"
#include "core/session/summary.h"

#include <algorithm>
#include <cmath>

namespace parallax::cli {

namespace {

/// The settings that differ from the defaults; all of them when the worker's schema cannot be had.
Json changesOf(const Json &config)
{
    const auto schema = session::loadSchema();
    return schema ? schema->changes(config) : config;
}

double lastOf(const session::RunData &data, const char *name)
{
    const auto found = data.series.find(name);
    return found == data.series.end() ? session::RunSummary::unknown : found->second.last();
}

Json checkpointsOf(const runs::RunFolder &folder)
{
    Json all = Json::array();
    for (const auto &checkpoint : folder.listCheckpoints()) {
        std::error_code error;
        const auto bytes = std::filesystem::file_size(checkpoint.tensors, error);
        all.push_back({{"step", checkpoint.step}, {"file", checkpoint.tensors.string()}, {"bytes", error ? 0 : bytes}});
    }
    return all;
}

void row(const std::string &name, const std::string &value)
{
    std::string head = "  " + name;
    head.resize(std::max<std::size_t>(15, head.size() + 1), ' ');
    printLine(head + text::printable(value));
}

std::string stateText(const runs::RunRecord &record)
{
    std::string line = toString(record.state);
    if (!record.state_reason.empty()) line += ": " + record.state_reason;
    return line;
}

void showFailure(const runs::RunFolder &folder, const runs::Failure &failure)
{
    if (failure.log.empty()) return;
    printLine("\nThe end of " + folder.log(std::max(0, failure.rank)).filename().string() + ":");
    for (const std::string &line : failure.log) printLine("  " + text::printable(line));
}

/// The newest warnings of all ranks, each text once.
void showWarnings(const session::RunData &data)
{
    constexpr std::size_t most = 8;
    std::vector<std::string> texts;
    std::size_t more = 0;
    for (auto line = data.log.rbegin(); line != data.log.rend(); ++line) {
        if (line->level != QLatin1String("warning")) continue;
        const std::string text = text::printable(line->text.toStdString());
        if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
        if (texts.size() < most)
            texts.push_back(text);
        else
            ++more;
    }
    if (texts.empty()) return;
    printLine("\nWarnings, the newest first:");
    for (const std::string &text : texts) printLine("  " + text);
    if (more > 0) printLine("  and " + std::to_string(more) + " more in the run's log");
}

void showChanges(const Json &changes)
{
    if (changes.empty()) return;
    printLine("\nSettings that differ from the defaults:");
    for (const auto &[group, fields] : changes.items()) {
        if (!fields.is_object()) continue;
        for (const auto &[key, value] : fields.items()) {
            std::string line = group;
            line.append(".").append(key).append(" = ").append(value.dump(-1, ' ', false, Json::error_handler_t::replace));
            printLine("  " + text::printable(line));
        }
    }
}

void showResults(const session::RunSummary &summary, const session::RunData &data)
{
    row("epoch", figure(summary.epoch, 1) + " of " + std::to_string(summary.epochs));
    row("step", std::to_string(summary.step) + (summary.steps > 0 ? " of " + std::to_string(summary.steps) : ""));
    row("time", span(summary.duration));
    row("loss", figure(summary.loss, 4));
    if (std::isfinite(summary.untrainedKnn) || std::isfinite(summary.lastKnn)) {
        row("kNN accuracy",
            figure(summary.lastKnn, 4) + " last, " + figure(summary.bestKnn, 4) + " best, " +
                figure(summary.untrainedKnn, 4) + " untrained (k=" + figure(lastOf(data, "k"), 0) +
                ", t=" + figure(lastOf(data, "temperature"), 2) + ")");
    }
    if (data.skippedLines > 0) row("skipped", std::to_string(data.skippedLines) + " damaged event lines");
}

std::string versionsText(const Json &versions)
{
    std::vector<std::string> parts;
    if (!versions.is_object()) return "–";
    for (const auto &[name, value] : versions.items())
        parts.push_back(name + " " + (value.is_string() ? value.get<std::string>() : value.dump()));
    return text::join(parts, ", ");
}

std::string gitText(const Json &git)
{
    if (!git.is_object() || !git.contains("commit") || !git["commit"].is_string()) return "–";
    const bool dirty = git.contains("dirty") && git["dirty"] == true;
    return git["commit"].get<std::string>().substr(0, 12) + (dirty ? " with changes" : "");
}

void showRecord(const runs::RunRecord &record)
{
    row("started", localTime(record.created) + " on " + record.host);
    std::vector<std::string> map;
    for (std::size_t rank = 0; rank < record.devices.size(); ++rank)
        map.push_back("rank " + std::to_string(rank) + " on " + record.devices[rank]);
    row("devices", text::join(map, ", "));
    row("attempts", std::to_string(record.attempts.size()));
    row("versions", versionsText(record.versions));
    row("git", gitText(record.git));
}

std::string evaluationText(const runs::Evaluation &evaluation)
{
    return evaluation.mode + " of epoch " + std::to_string(evaluation.checkpointEpoch) + ": " +
        figure(evaluation.last.top1, 4) + " last, " + figure(evaluation.best.top1, 4) + " best (after epoch " +
        std::to_string(evaluation.best.epoch) + " of " + std::to_string(evaluation.last.epoch) + "), " +
        evaluation.file.filename().string();
}

Json evaluationsOf(const runs::RunFolder &folder)
{
    Json all = Json::array();
    for (const auto &evaluation : runs::readEvaluations(folder)) all.push_back(evaluation.toJson());
    return all;
}

void showFiles(const runs::RunFolder &folder)
{
    std::vector<std::string> steps, epochs;
    for (const auto &checkpoint : folder.listCheckpoints()) steps.push_back(std::to_string(checkpoint.step));
    for (const int epoch : folder.listEmbeddings()) epochs.push_back(std::to_string(epoch));
    row("checkpoints", steps.empty() ? "none" : "at step " + text::join(steps, ", "));
    row("embeddings", epochs.empty() ? "none" : "of epoch " + text::join(epochs, ", "));
    for (const auto &evaluation : runs::readEvaluations(folder)) row("evaluated", evaluationText(evaluation));
    row("folder", folder.path().string());
}

int show(const Arguments &arguments)
{
    const auto folder = namedRun(arguments);
    if (!folder) return fail(arguments, folder.error());
    const session::RunSummary summary = session::summarize(*folder);
    if (!summary.problem.isEmpty()) return fail(arguments, {summary.problem.toStdString(), {}, {}}, 1);
    const session::RunData data = session::readRun(*folder);
    const Json changes = changesOf(data.config);
    if (arguments.json()) {
        Json json = summary.toJson();
        json["knn_k"] = lastOf(data, "k");
        json["knn_temperature"] = lastOf(data, "temperature");
        json["changes"] = changes;
        json["checkpoints"] = checkpointsOf(*folder);
        json["embeddings"] = folder->listEmbeddings();
        json["evaluations"] = evaluationsOf(*folder);
        json["skipped_lines"] = data.skippedLines;
        printJson(json);
        return 0;
    }
    const runs::RunRecord &record = summary.record;
    printLine(toned(text::printable(folder->name()) + "  " + session::runName(summary).toStdString(), Tone::Bold));
    row("state", stateText(record));
    showResults(summary, data);
    showFiles(*folder);
    showRecord(record);
    showWarnings(data);
    showChanges(changes);
    if (record.failure) showFailure(*folder, *record.failure);
    return 0;
}

} // namespace

Command showCommand()
{
    Command command;
    command.name = "show";
    command.operands = "RUN";
    command.summary = "One run: state and reason, results, evaluations, changed settings, checkpoints.";
    command.details = "RUN: a folder, the start of a run's name or id, or last.";
    command.example = "parallax show last";
    command.options = {runsOption(), jsonOption()};
    command.run = show;
    return command;
}

} // namespace parallax::cli
