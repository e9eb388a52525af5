// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/output.h"
#include "core/session/job.h"
#include "core/session/qtconvert.h"

#include <limits>

namespace parallax::cli {

namespace {

constexpr int patienceMs = std::numeric_limits<int>::max(); // 24 days; Ctrl-C ends the job as well
constexpr std::size_t columnWidth = 10;

/// Options that are short for a setting.
struct Short {
    const char *option, *key;
};
constexpr Short shorts[]{{"mode", "probe.mode"}, {"epochs", "probe.epochs"}, {"lr", "probe.lr"}};

double number(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string word(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? text::printable(found->get<std::string>()) : "–";
}

std::string whole(const Json &object, const char *key) { return figure(number(object, key), 0); }

/// A member that is an object; an empty one when it is not.
Json part(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_object() ? *found : Json::object();
}

void printRow(const std::vector<std::string> &cells, Tone tone = Tone::Plain)
{
    std::string line;
    for (const std::string &cell : cells)
        line += std::string(cell.size() < columnWidth ? columnWidth - cell.size() : 1, ' ') + cell;
    printLine(toned(line, tone));
}

/// What the worker tells while it works: first what it is about to do, then a row an epoch.
class Table
{
public:
    /// False for a line that is none of the worker's reports.
    bool take(const QByteArray &line)
    {
        const Json report = Json::parse(line.begin(), line.end(), nullptr, false);
        if (!report.is_object()) return false;
        if (report.contains("train_images"))
            begin(report);
        else if (report.contains("curves") && report["curves"].is_array())
            addEpoch(report);
        else
            return false;
        return true;
    }

private:
    void begin(const Json &report)
    {
        const std::string weights = word(report, "weights"), mode = word(report, "mode");
        printLine((mode == "linear" ? "Linear probe of " : "Fine-tuning of ") +
                  (weights.empty() ? "the checkpoint of epoch " + whole(report, "checkpoint_epoch") : weights) + ": " +
                  whole(report, "train_images") + " images to learn from, " + whole(report, "val_images") +
                  " for validation, " + whole(report, "classes") + " classes, on " + word(report, "device"));
        std::vector<std::string> head{"epoch", "loss", "top-1", "top-5"};
        if (report.contains("lr") && report["lr"].is_array() && report["lr"].size() > 1) {
            printLine("Top-1 by learning rate:");
            head = {"epoch"};
            for (const Json &lr : report["lr"])
                head.push_back(lr.is_number() ? "lr " + text::number(lr.get<double>()) : "–");
        }
        printRow(head, Tone::Bold);
    }

    static void addEpoch(const Json &report)
    {
        const Json &curves = report["curves"];
        std::vector<std::string> cells{whole(report, "epoch")};
        for (const Json &curve : curves) {
            if (!curve.is_object()) continue;
            if (curves.size() == 1) cells.push_back(figure(number(curve, "loss"), 4));
            cells.push_back(curve.contains("diverged") ? "diverged" : figure(number(curve, "top1"), 4));
            if (curves.size() == 1) cells.push_back(figure(number(curve, "top5"), 4));
        }
        printRow(cells);
    }
};

std::string scoreText(const Json &document, const char *key)
{
    const Json score = part(document, key);
    return figure(number(score, "top1"), 4) + " top-1, " + figure(number(score, "top5"), 4) + " top-5, after epoch " +
        whole(score, "epoch");
}

void tell(const Json &document)
{
    if (document.contains("warnings") && document["warnings"].is_array())
        for (const Json &warning : document["warnings"])
            if (warning.is_string()) note("warning: " + text::printable(warning.get<std::string>()));
    const Json protocol = part(document, "protocol");
    const std::size_t rates = protocol.contains("lr") && protocol["lr"].is_array() ? protocol["lr"].size() : 1;
    printLine("best  " + scoreText(document, "best") + "; chosen by the images it is measured on: optimistic");
    printLine("last  " + scoreText(document, "last"));
    printLine(
        "lr    " + text::number(number(document, "lr")) + " per 256 images" +
        (rates > 1 ? ", of " + std::to_string(rates) + " the best after the last epoch: chosen by the same images" : ""));
    printLine("file  " + word(document, "file"));
}

/// A place in the file system as the worker will see it; the name of built-in images as it is.
QString source(const std::string &name)
{
    std::error_code error;
    if (!std::filesystem::exists(name, error)) return session::toQString(name);
    return session::toQString(std::filesystem::absolute(name).lexically_normal());
}

int evaluate(const Arguments &arguments)
{
    const auto folder = namedRun(arguments);
    if (!folder) return fail(arguments, folder.error());
    QStringList words{QStringLiteral("eval"), QStringLiteral("--run"), session::toQString(folder->path())};
    for (const char *name : {"epoch", "device"})
        if (arguments.has(name))
            words << QStringLiteral("--") + QString::fromLatin1(name) << session::toQString(arguments.value(name));
    for (const char *name : {"data", "val-data", "weights"})
        if (arguments.has(name)) words << QStringLiteral("--") + QString::fromLatin1(name) << source(arguments.value(name));
    for (const Short &option : shorts)
        if (arguments.has(option.option))
            words << QStringLiteral("--set") << session::toQString(option.key + ('=' + arguments.value(option.option)));
    for (const std::string &assignment : arguments.values("set"))
        words << QStringLiteral("--set") << session::toQString(assignment);
    Table table;
    const auto answer = session::runJob(session::Job::Program::Worker, words, patienceMs, [&](const QByteArray &line) {
        return arguments.json() ? line.startsWith('{') : table.take(line);
    });
    if (!answer) return fail(arguments, answer.error(), 1);
    if (arguments.json())
        printJson(*answer);
    else
        tell(*answer);
    return 0;
}

} // namespace

Command evalCommand()
{
    Command command;
    command.name = "eval";
    command.operands = "RUN";
    command.summary = "Accuracy of a run's network by labels: linear probe or fine-tuning.";
    command.details =
        "A linear probe trains one linear layer on the features of the frozen network; fine-tuning trains all of it. The\n"
        "images are the run's own, in its own split, one folder a class. Accuracy of the best and of the last epoch, the\n"
        "whole protocol and every epoch's figures go to RUN/evals/, what was trained beside them as safetensors; nothing\n"
        "earlier is overwritten. Defaults are those of lightly's benchmarks. parallax schema eval lists every setting.";
    command.example = "parallax eval last --lr 0.01,0.1,1 --epochs 30";
    command.options = {{"mode", "NAME", "linear (default) or finetune (probe.mode)."},
                       {"epoch", "N", "The checkpoint of that epoch (default: the newest)."},
                       {"data", "PATH", "Other labelled images than the run's own."},
                       {"val-data", "PATH", "Labelled images to measure on, instead of a part of the others."},
                       {"epochs", "N", "Epochs to train (probe.epochs; default 90, fine-tuning 30)."},
                       {"lr", "RATE", "Learning rate per 256 images; several, comma between, for linear (probe.lr)."},
                       {"set", "KEY=VALUE", "Any setting, such as probe.val_fraction=0.2; may be repeated."},
                       {"weights", "FILE", "By an exported backbone (safetensors) instead of a checkpoint."},
                       {"device", "NAME", "auto, cpu, cuda or cuda:1 (default: as the run)."},
                       runsOption(),
                       jsonOption()};
    command.run = evaluate;
    return command;
}

} // namespace parallax::cli
