// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/app.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/output.h"
#include "core/session/version.h"

#include <algorithm>
#include <optional>

namespace parallax::cli {

namespace {

constexpr int usageError = 2;

std::string overview()
{
    std::string text =
        toned("parallax", Tone::Bold) + " " + session::version() + ": self-supervised learning on your images\n\n";
    text += "Usage: parallax COMMAND [options]\n\n";
    for (const Command &command : commands()) {
        if (command.hidden) continue;
        std::string head = command.name + (command.operands.empty() ? "" : " " + command.operands);
        head.resize(std::max<std::size_t>(20, head.size() + 1), ' ');
        text += "  " + head + command.summary + "\n";
    }
    text += "\nEach command has --help. A first run: parallax train --preset demo\n";
    return text;
}

std::string helpFor(const Command &command)
{
    std::string text = "Usage: parallax " + command.name;
    if (!command.operands.empty()) text += " " + command.operands;
    text += " [options]\n\n" + command.summary + "\n";
    if (!command.details.empty()) text += "\n" + command.details + "\n";
    text += "\nOptions:\n";
    std::vector<Option> options = command.options;
    options.push_back({"help", "", "Show this."});
    for (const Option &option : options) {
        std::string head = "--" + option.name + (option.value.empty() ? "" : " " + option.value);
        head.resize(std::max<std::size_t>(18, head.size() + 1), ' ');
        text += "  " + head + option.help + "\n";
    }
    return text + "\nExample:\n  " + command.example + "\n";
}

/// The command that the words begin with, and how many of them are its name.
std::optional<std::pair<Command, std::size_t>> findCommand(const std::vector<std::string> &words)
{
    for (const Command &command : commands()) {
        const auto name = text::split(command.name, ' ');
        if (words.size() >= name.size() && std::equal(name.begin(), name.end(), words.begin()))
            return std::pair(command, name.size());
    }
    return {};
}

/// Asked for before the words were understood: a script reads the answer the same way whatever is wrong with its question.
bool asksForJson(const std::vector<std::string> &words)
{
    const auto end = std::find(words.begin(), words.end(), "--"); // what follows are operands
    return std::find(words.begin(), end, "--json") != end;
}

Error unknownCommand(const std::string &word)
{
    std::vector<std::string> names;
    for (const Command &command : commands())
        if (!command.hidden) names.push_back(command.name);
    std::string hint = "See: parallax --help";
    if (const auto near = text::nearest(word, names)) hint = "Did you mean: parallax " + *near;
    std::vector<std::string> longer;
    for (const std::string &name : names)
        if (name.starts_with(word + " ")) longer.push_back("parallax " + name);
    if (!longer.empty()) hint = "Did you mean: " + text::join(longer, ", ");
    return {"There is no command \"" + text::printable(word) + '"', {}, hint};
}

void warnOfUnknownEnvironment()
{
    for (const std::string &variable : paths::unknownEnvironment())
        note("parallax: the environment sets " + variable + ", which means nothing here");
}

} // namespace

std::vector<Command> commands()
{
    return {trainCommand(),  resumeCommand(), stopCommand(),    listCommand(),      showCommand(),      methodsCommand(),
            schemaCommand(), configCommand(), previewCommand(), dataCheckCommand(), dataStatsCommand(), dataGetCommand(),
            embedCommand(),  evalCommand(),   exportCommand(),  doctorCommand(),    selftestCommand(),  superviseCommand()};
}

Option runsOption() { return {"runs", "DIR", "Folder of runs (default: $PARALLAX_RUNS, else the user's data folder)."}; }

Option jsonOption() { return {"json", "", "Print JSON; errors as {\"error\": {\"what\", \"where\", \"hint\"}}."}; }

std::filesystem::path runsFolder(const Arguments &arguments)
{
    return arguments.has("runs") ? std::filesystem::absolute(arguments.value("runs")) : paths::defaultRuns();
}

Result<runs::RunFolder> namedRun(const Arguments &arguments)
{
    return runs::RunFolder::find(runsFolder(arguments), arguments.operand());
}

int run(const std::vector<std::string> &words)
{
    if (words.empty() || words[0] == "help" || words[0] == "--help" || words[0] == "-h") {
        print(overview());
        return words.empty() ? usageError : 0;
    }
    if (words[0] == "--version") {
        printLine("parallax " + session::version());
        return 0;
    }
    const auto found = findCommand(words);
    if (!found) return fail(asksForJson(words), unknownCommand(words[0]), usageError);
    const auto &[command, nameWords] = *found;
    const std::vector<std::string> rest(words.begin() + std::ptrdiff_t(nameWords), words.end());
    const auto arguments = Arguments::parse(command, rest);
    if (!arguments) return fail(asksForJson(words), arguments.error(), usageError);
    if (arguments->help()) {
        print(helpFor(command));
        return 0;
    }
    warnOfUnknownEnvironment();
    return command.run(*arguments);
}

} // namespace parallax::cli
