// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/configlayers.h"
#include "core/cli/output.h"
#include "core/session/job.h"
#include "core/session/launch.h"
#include "core/session/qtconvert.h"
#include "core/session/settings.h"

namespace parallax::cli {

namespace {

std::string member(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? text::printable(found->get<std::string>()) : "";
}

int methods(const Arguments &arguments)
{
    const auto answer = session::runJob(session::Job::Program::Worker, {QStringLiteral("methods")});
    if (!answer) return fail(arguments, answer.error(), 1);
    if (arguments.json()) {
        printJson(*answer);
        return 0;
    }
    for (const Json &method : *answer) {
        if (!method.is_object()) continue;
        printLine(toned(member(method, "name"), Tone::Bold) + "  " + member(method, "label") + ": " + member(method, "use"));
        printLine("  " + member(method, "paper"));
        for (const auto &[key, label] : {std::pair("gather_advice", "gather"), std::pair("sync_bn_advice", "batch norm")})
            if (const std::string advice = member(method, key); !advice.empty())
                printLine(std::string("  ") + label + ": " + advice);
        std::vector<std::string> options;
        if (method.contains("options") && method["options"].is_array())
            for (const Json &option : method["options"])
                if (option.is_string()) options.push_back(text::printable(option.get<std::string>()));
        if (!options.empty()) printLine("  options: " + text::join(options, ", "));
    }
    return 0;
}

std::string fieldLine(const config::Field &field)
{
    std::string line = "  " + field.key;
    line.resize(std::max<std::size_t>(34, line.size() + 1), ' ');
    line += field.defaultValue.dump() + (field.unit.empty() ? "" : " " + field.unit) + "  (" + field.allowed() + ")";
    if (field.when) line += "  only with " + field.when->key + " = " + text::join(field.when->values, ", ");
    return line;
}

/// The settings of a job that has some of its own.
Result<config::Schema> jobSchema(const std::string &job)
{
    const auto answer = session::runJob(session::Job::Program::Worker,
                                        {QStringLiteral("schema"), QStringLiteral("--job"), session::toQString(job)});
    if (!answer) return answer.error();
    return config::Schema::fromJson(*answer);
}

int schema(const Arguments &arguments)
{
    const std::string job = arguments.operand();
    const auto schema = job.empty() || job == "train" ? session::loadSchema() : jobSchema(job);
    if (!schema) return fail(arguments, schema.error(), 1);
    if (arguments.json()) {
        printJson(schema->toJson());
        return 0;
    }
    for (const auto &group : schema->groups()) {
        printLine(toned(group.label, Tone::Bold));
        for (const config::Field &field : schema->fields()) {
            if (field.group() != group.name) continue;
            printLine(fieldLine(field));
            if (!field.help.empty()) printLine("      " + toned(field.help, Tone::Dim));
        }
        printLine();
    }
    return 0;
}

int config(const Arguments &arguments)
{
    auto layers = configLayers(arguments);
    if (!layers) return fail(arguments, layers.error());
    session::LaunchRequest request;
    request.layers = std::move(layers).value();
    request.assignments = arguments.values("set");
    const auto resolved = session::resolveConfig(request);
    if (!resolved) return fail(arguments, resolved.error());
    const auto schema = session::loadSchema();
    if (!schema) return fail(arguments, schema.error(), 1);
    printJson(arguments.has("changes") ? schema->changes(*resolved) : *resolved);
    return 0;
}

} // namespace

Command methodsCommand()
{
    Command command;
    command.name = "methods";
    command.summary = "The methods there are, with paper, advice for several ranks and options.";
    command.example = "parallax methods";
    command.options = {jsonOption()};
    command.run = methods;
    return command;
}

Command schemaCommand()
{
    Command command;
    command.name = "schema";
    command.operands = "[eval]";
    command.summary = "Every setting: default, unit, what is allowed, what it does.";
    command.details = "Those of a training configuration; with eval those of parallax eval.";
    command.example = "parallax schema --json";
    command.options = {jsonOption()};
    command.run = schema;
    return command;
}

Command configCommand()
{
    Command command;
    command.name = "config";
    command.summary = "Check a configuration and print it whole, ready for --config.";
    command.example = "parallax config --preset demo --set train.epochs=20";
    command.options = configOptions();
    command.options.push_back({"changes", "", "Only what differs from the defaults."});
    command.options.push_back(jsonOption());
    command.run = config;
    return command;
}

} // namespace parallax::cli
