// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/output.h"
#include "core/session/job.h"
#include "core/session/qtconvert.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace parallax::cli {

namespace {

constexpr int patienceMs = 24 * 3600 * 1000; // the worker itself ends ranks that hang
constexpr char eraseLine[] = "\r\x1b[2K";

const std::vector<bool> right{false, true, true, true, false, true};

std::string member(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? text::printable(found->get<std::string>()) : "";
}

double number(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

/// "3.1e-15"; a difference that is no number comes as a string.
std::string shownDifference(const Json &row, const char *key)
{
    const double value = number(row, key);
    if (!std::isfinite(value)) return member(row, key).empty() ? "–" : member(row, key);
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.1e", value); // C locale: a point
    return buffer;
}

bool isOk(const Json &object) { return object.value("ok", false); }

std::vector<std::string> cells(const Json &row)
{
    return {member(row, "method"),
            figure(number(row, "ranks"), 0),
            shownDifference(row, "loss_difference"),
            shownDifference(row, "weight_difference"),
            isOk(row) ? "ok" : "MISSED",
            figure(number(row, "seconds"), 1)};
}

/// The methods to test, in the worker's order.
Result<std::vector<std::string>> chosenMethods(const Arguments &arguments)
{
    const auto answer = session::runJob(session::Job::Program::Worker, {QStringLiteral("methods")});
    if (!answer) return answer.error();
    std::vector<std::string> names;
    for (const Json &method : *answer)
        if (method.is_object()) names.push_back(member(method, "name"));
    const auto wanted = arguments.values("method");
    for (const auto &name : wanted) {
        if (std::ranges::count(names, name) > 0) continue;
        const auto near = text::nearest(name, names);
        return Error{"There is no method named \"" + text::printable(name) + '"', "--method",
                     near ? "Did you mean " + *near + "?" : "There is: " + text::join(names, ", ")};
    }
    if (!wanted.empty()) std::erase_if(names, [&](const auto &name) { return std::ranges::count(wanted, name) == 0; });
    return names;
}

/// Rows as they come: columns are as wide as for the longest name and figure there may be.
class Report
{
public:
    explicit Report(const std::vector<std::string> &methods)
    {
        m_widest = {std::string("method"), "ranks", "largest difference: loss", "weights", "MISSED", "seconds"};
        for (const auto &name : methods)
            if (name.size() > m_widest[0].size()) m_widest[0] = name;
    }
    void head() const { print({"method", "ranks", "largest difference: loss", "weights", "", "seconds"}, Tone::Bold); }
    void add(const Json &row) const { print(cells(row), isOk(row) ? Tone::Plain : Tone::Bad); }

private:
    void print(const std::vector<std::string> &row, Tone tone) const
    {
        const std::string lines = table({m_widest, row}, right); // the first line makes the columns
        std::string line = lines.substr(lines.find('\n') + 1);
        line.pop_back();
        printLine(toned(line, tone));
    }
    std::vector<std::string> m_widest;
};

/// One method after the other, so that what is done can be seen while the rest goes on.
int selftest(const Arguments &arguments)
{
    const auto methods = chosenMethods(arguments);
    if (!methods) return fail(arguments, methods.error(), arguments.has("method") ? 2 : 1);
    QStringList options;
    for (const char *name : {"device", "ranks", "steps", "timeout"})
        if (arguments.has(name))
            options << QStringLiteral("--") + QString::fromLatin1(name) << session::toQString(arguments.value(name));
    const bool quiet = arguments.json(), terminal = stdoutIsTerminal() && !quiet;
    const Report report(*methods);
    Json all{{"ok", true}, {"rows", Json::array()}, {"seconds", 0.0}};
    std::size_t missed = 0;
    if (!quiet) report.head();
    for (std::size_t i = 0; i < methods->size(); ++i) {
        const std::string &name = (*methods)[i];
        if (terminal) print(name + " … (" + std::to_string(i + 1) + " of " + std::to_string(methods->size()) + ")");
        const QStringList words{QStringLiteral("selftest"), QStringLiteral("--method"), session::toQString(name)};
        const auto answer = session::runJob(session::Job::Program::Worker, words + options, patienceMs);
        if (terminal) print(eraseLine);
        if (!answer) return fail(arguments, answer.error(), 1);
        for (const Json &row : answer->value("rows", Json::array())) {
            missed += !isOk(row);
            if (!quiet) report.add(row);
            all["rows"].push_back(row);
        }
        for (const char *key : {"device", "steps", "tolerance", "skipped"})
            if (answer->contains(key)) all[key] = (*answer)[key];
        all["ok"] = isOk(all) && isOk(*answer);
        all["seconds"] = all["seconds"].get<double>() + std::max(0.0, number(*answer, "seconds"));
    }
    if (quiet) {
        printJson(all);
        return isOk(all) ? 0 : 1;
    }
    for (const Json &skipped : all.value("skipped", Json::array()))
        if (skipped.is_string()) note("left out: " + text::printable(skipped.get<std::string>()));
    const std::string of = std::to_string(all["rows"].size()) + " comparisons of " + std::to_string(methods->size()) +
        (methods->size() == 1 ? " method" : " methods") + ", " + figure(number(all, "steps"), 0) + " steps each, in " +
        span(number(all, "seconds"));
    if (isOk(all))
        printLine(toned("ok", Tone::Good) + ": any number of ranks computes what one does, to " +
                  shownDifference(all, "tolerance") + " (" + of + ")");
    else
        printLine(toned("MISSED", Tone::Bad) + ": " + std::to_string(missed) + " differ by more than " +
                  shownDifference(all, "tolerance") + " from one rank (" + of + ")");
    return isOk(all) ? 0 : 1;
}

} // namespace

Command selftestCommand()
{
    Command command;
    command.name = "selftest";
    command.summary = "Check that several ranks compute what one does, on this machine.";
    command.details =
        "Trains every method for a few steps in float64, with tiny networks, gather and SyncBatchNorm, on one rank of the\n"
        "CPU and on several; losses and weights must agree. Takes a minute or two. Exit status 1: some do not.";
    command.example = "parallax selftest --method simclr --method moco --ranks 2";
    command.options = {{"method", "NAME", "Only this method; may be given several times (default: all)."},
                       {"ranks", "LIST", "Numbers of ranks to compare (default 2,4; with CUDA 1,2,4)."},
                       {"device", "NAME", "cpu (default), or cuda: a rank on each GPU, compared with the CPU."},
                       {"steps", "N", "Training steps (default 10)."},
                       {"timeout", "S", "Seconds after which a rank that waits for another gives up (default 60)."},
                       jsonOption()};
    command.run = selftest;
    return command;
}

} // namespace parallax::cli
