// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/cli/checkreport.h"
#include "core/cli/commands.h"
#include "core/cli/configlayers.h"
#include "core/cli/output.h"
#include "core/session/job.h"
#include "core/session/launch.h"
#include "core/session/qtconvert.h"

namespace parallax::cli {

namespace {

constexpr int patienceMs = 24 * 3600 * 1000; // features of a large data set take hours; Ctrl-C ends the job as well

Result<Json> worker(const QStringList &words) { return session::runJob(session::Job::Program::Worker, words, patienceMs); }

/// An option that is handed on to the worker under the same name.
void passOn(const Arguments &arguments, const char *name, QStringList &words)
{
    if (arguments.has(name))
        words << QStringLiteral("--") + QString::fromLatin1(name) << session::toQString(arguments.value(name));
}

/// A path as the worker will see it, whatever its current directory.
QString absolute(const std::string &path) { return session::toQString(std::filesystem::absolute(path).lexically_normal()); }

int finish(const Arguments &arguments, const Result<Json> &answer, const std::function<void(const Json &)> &tell)
{
    if (!answer) return fail(arguments, answer.error(), 1);
    if (arguments.json())
        printJson(*answer);
    else
        tell(*answer);
    return 0;
}

void tellWarnings(const Json &answer)
{
    const auto warnings = answer.find("warnings");
    if (warnings == answer.end() || !warnings->is_array()) return;
    for (const Json &warning : *warnings)
        if (warning.is_string()) note("warning: " + text::printable(warning.get<std::string>()));
}

/// The configuration that a job needs, with `source` as the images when it is given.
Result<Json> jobConfig(const Arguments &arguments, const std::string &source)
{
    auto layers = configLayers(arguments);
    if (!layers) return layers.error();
    session::LaunchRequest request;
    request.layers = std::move(layers).value();
    request.assignments = arguments.values("set");
    if (!source.empty()) {
        config::Layer layer{"PATH", Json::object()};
        config::assign(layer.values, "data.source", source);
        request.layers.push_back(std::move(layer));
    }
    return session::resolveConfig(request);
}

int dataCheck(const Arguments &arguments)
{
    const auto config = jobConfig(arguments, arguments.operand());
    if (!config) return fail(arguments, config.error());
    return finish(arguments, session::askWorker(QStringLiteral("check"), *config),
                  [](const Json &answer) { print(checkReport(answer)); });
}

/// Comma and no blank between them: a word of a command line.
std::string threeValues(const Json &answer, const char *key)
{
    std::vector<std::string> parts;
    if (answer.contains(key) && answer[key].is_array())
        for (const Json &value : answer[key])
            if (value.is_number()) parts.push_back(text::fixed(value.get<double>(), 4));
    return text::join(parts, ",");
}

void tellStats(const Json &answer)
{
    printLine("images      " + shown(answer, "images") + " in " + shown(answer, "source"));
    if (answer.contains("unreadable") && answer["unreadable"] != 0)
        printLine("unreadable  " + shown(answer, "unreadable") + "; parallax data check says which");
    const std::string mean = threeValues(answer, "mean"), std = threeValues(answer, "std");
    printLine("mean        " + mean);
    printLine("std         " + std);
    if (const std::string remark = shown(answer, "remark"); remark != "–" && !remark.empty())
        printLine("note        " + remark);
    printLine("use it      --set augment.mean=[" + mean + "] --set augment.std=[" + std + "]");
}

int dataStats(const Arguments &arguments)
{
    const auto config = jobConfig(arguments, arguments.operand());
    if (!config) return fail(arguments, config.error());
    return finish(arguments, session::askWorker(QStringLiteral("stats"), *config), tellStats);
}

int preview(const Arguments &arguments)
{
    const auto config = jobConfig(arguments, {});
    if (!config) return fail(arguments, config.error());
    QStringList words{QStringLiteral("--images"), session::toQString(arguments.value("images", "8"))};
    words << QStringLiteral("--epochs") << session::toQString(arguments.value("epochs", "1"));
    words << QStringLiteral("--out") << absolute(arguments.value("out", "preview"));
    return finish(arguments, session::askWorker(QStringLiteral("preview"), *config, words), [&](const Json &answer) {
        const std::size_t count = answer.contains("images") ? answer["images"].size() : 0;
        printLine("Views of " + std::to_string(count) + " images in " + text::printable(words.last().toStdString()));
    });
}

int embed(const Arguments &arguments)
{
    const auto folder = namedRun(arguments);
    if (!folder) return fail(arguments, folder.error());
    QStringList words{QStringLiteral("embed"), QStringLiteral("--run"), session::toQString(folder->path())};
    for (const char *name : {"epoch", "limit"}) passOn(arguments, name, words);
    if (arguments.has("data")) {
        std::error_code error;
        const bool onDisk = std::filesystem::exists(arguments.value("data"), error);
        words << QStringLiteral("--data")
              << (onDisk ? absolute(arguments.value("data")) : session::toQString(arguments.value("data")));
    }
    if (arguments.has("weights")) words << QStringLiteral("--weights") << absolute(arguments.value("weights"));
    return finish(arguments, worker(words), [](const Json &answer) {
        tellWarnings(answer);
        printLine(shown(answer, "count") + " images, " + shown(answer, "dim") + " numbers each: " + shown(answer, "folder"));
    });
}

int exportBackbone(const Arguments &arguments)
{
    const auto folder = namedRun(arguments);
    if (!folder) return fail(arguments, folder.error());
    const QString out = absolute(arguments.value("out", folder->name() + ".safetensors"));
    QStringList words{QStringLiteral("export"), QStringLiteral("--run"), session::toQString(folder->path())};
    words << QStringLiteral("--out") << out;
    return finish(arguments, worker(words), [&](const Json &answer) {
        tellWarnings(answer);
        printLine("Backbone written: " + text::printable(out.toStdString()));
    });
}

Command make(const char *name, const char *operands, const char *summary, const char *example, std::vector<Option> options,
             int (*run)(const Arguments &))
{
    Command command;
    command.name = name;
    command.operands = operands;
    command.summary = summary;
    command.example = example;
    command.options = std::move(options);
    command.options.push_back(jsonOption());
    command.run = run;
    return command;
}

} // namespace

Command dataCheckCommand()
{
    return make("data check", "[PATH]", "Look at images before training: count, classes, sizes, unreadable files.",
                "parallax data check ~/Pictures", configOptions(), dataCheck);
}

Command dataStatsCommand()
{
    return make("data stats", "[PATH]", "Mean and standard deviation of the images' channels, for augment.mean and .std.",
                "parallax data stats ~/Pictures", configOptions(), dataStats);
}

Command previewCommand()
{
    std::vector<Option> options = configOptions();
    options.push_back({"images", "N", "How many images (default 8)."});
    options.push_back({"epochs", "N", "Views of so many epochs (default 1)."});
    options.push_back({"out", "DIR", "Where to write them (default ./preview)."});
    return make("preview", "", "Write the augmented views of some images as PNG files.",
                "parallax preview --data ~/Pictures --images 4 --out views", std::move(options), preview);
}

Command embedCommand()
{
    return make("embed", "RUN", "Features of images by a run's network, for the Embeddings screen.",
                "parallax embed last --data ~/Pictures --limit 2000",
                {{"epoch", "N", "By the checkpoint of that epoch (default: the newest)."},
                 {"data", "PATH", "Other images than the run's own."},
                 {"limit", "N", "At most so many images, drawn evenly."},
                 {"weights", "FILE", "By an exported backbone (safetensors)."},
                 runsOption()},
                embed);
}

Command exportCommand()
{
    Command command = make("export", "RUN", "Write a run's backbone as safetensors with torchvision's names.",
                           "parallax export last --out resnet18.safetensors",
                           {{"out", "FILE", "Where to write it (default: the run's name)."}, runsOption()}, exportBackbone);
    command.details = "In Python, without the classifier that torchvision puts behind the features:\n"
                      "  net = torchvision.models.resnet18()\n"
                      "  net.fc = torch.nn.Identity()  # vit_b_16: net.heads; convnext_tiny: net.classifier[2]\n"
                      "  net.load_state_dict(safetensors.torch.load_file(\"resnet18.safetensors\"), strict=True)";
    return command;
}

} // namespace parallax::cli
