// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/output.h"
#include "core/session/runindex.h"
#include "core/session/runname.h"

#include <cmath>

namespace parallax::cli {

namespace {

std::string shown(const QString &text) { return text::printable(text.toStdString()); }

std::string progressOf(const session::RunSummary &run)
{
    if (run.epochs <= 0) return "–";
    return text::fixed(std::floor(run.epoch * 10) / 10, 1) + "/" + std::to_string(run.epochs);
}

/// Why runs cannot be read; of thousands, the first few.
void noteProblems(const std::vector<session::RunSummary> &all)
{
    constexpr int most = 10;
    int problems = 0;
    for (const session::RunSummary &run : all)
        if (!run.problem.isEmpty() && ++problems <= most) note("parallax: " + shown(run.problem));
    if (problems > most) note("parallax: and " + std::to_string(problems - most) + " more that cannot be read");
}

int list(const Arguments &arguments)
{
    const auto folder = runsFolder(arguments);
    const auto all = session::summarizeAll(folder);
    if (arguments.json()) {
        Json runs = Json::array();
        for (const session::RunSummary &run : all) runs.push_back(run.toJson());
        printJson(runs);
        return 0;
    }
    if (all.empty()) {
        printLine("No runs in " + text::printable(folder.string()) + ". Start one with: parallax train --preset demo");
        return 0;
    }
    std::vector<std::vector<std::string>> rows{
        {"RUN", "NAME", "STATE", "METHOD", "DATA", "EPOCH", "LOSS", "kNN", "BEST", "UNTRAINED", "STARTED"}};
    for (const session::RunSummary &run : all) {
        const runs::RunRecord &record = run.record;
        const std::string state = run.problem.isEmpty() ? toString(record.state) : "unreadable";
        rows.push_back({text::printable(record.id), session::runName(run).toStdString(), state, shown(run.method),
                        shown(run.dataset), progressOf(run), figure(run.loss, 3), figure(run.lastKnn, 4),
                        figure(run.bestKnn, 4), figure(run.untrainedKnn, 4), localTime(record.created)});
    }
    print(table(rows, {false, false, false, false, false, true, true, true, true, true, false}));
    noteProblems(all);
    return 0;
}

} // namespace

Command listCommand()
{
    Command command;
    command.name = "list";
    command.summary = "All runs, newest first: state, epoch, loss, kNN accuracy.";
    command.example = "parallax list --json";
    command.options = {runsOption(), jsonOption()};
    command.run = list;
    return command;
}

} // namespace parallax::cli
