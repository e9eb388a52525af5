// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/arguments.h"

#include "core/base/text.h"

#include <algorithm>

namespace parallax::cli {

namespace {

struct Operands {
    std::size_t least = 0, most = 0;
};

/// "RUN" is needed, "[PATH]" may be left out.
Operands countOperands(const std::string &declared)
{
    Operands count;
    for (const std::string &word : text::split(declared, ' ')) {
        if (word.empty()) continue;
        ++count.most;
        if (word.front() != '[') ++count.least;
    }
    return count;
}

Error unknownOption(const Command &command, const std::string &name)
{
    std::vector<std::string> names{"help"};
    for (const Option &option : command.options) names.push_back(option.name);
    const auto near = text::nearest(name, names);
    const std::string hint = near ? "Did you mean --" + *near + "?" : "See: parallax " + command.name + " --help";
    return {"There is no option --" + text::printable(name), "parallax " + command.name, hint};
}

} // namespace

Result<Arguments> Arguments::parse(const Command &command, const std::vector<std::string> &words)
{
    Arguments arguments;
    const std::string where = "parallax " + command.name, help = "See: " + where + " --help";
    bool options = true;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string &word = words[i];
        if (options && word == "--") {
            options = false;
            continue;
        }
        if (!options || word.size() < 2 || word[0] != '-') {
            arguments.m_operands.push_back(word);
            continue;
        }
        const auto equals = word.find('=');
        const std::string name =
            word == "-h" ? "help" : word.substr(word[1] == '-' ? 2 : 1, equals - (word[1] == '-' ? 2 : 1));
        const auto known = std::find_if(command.options.begin(), command.options.end(),
                                        [&](const Option &option) { return option.name == name; });
        if (name != "help" && (known == command.options.end() || word[1] != '-')) return unknownOption(command, name);
        const bool takesValue = name != "help" && !known->value.empty();
        if (!takesValue && equals != std::string::npos) return Error{"--" + name + " takes no value", where, help};
        if (takesValue && equals == std::string::npos && i + 1 == words.size())
            return Error{"--" + name + " needs a value: " + known->value, where, help};
        std::string value;
        if (takesValue) value = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
        arguments.m_values[name].push_back(value);
    }
    const Operands count = countOperands(command.operands);
    const std::size_t given = arguments.m_operands.size();
    if (arguments.help() || (given >= count.least && given <= count.most)) return arguments;
    if (given < count.least) return Error{"It needs " + command.operands, where, help};
    return Error{"It does not know what to do with \"" + text::printable(arguments.m_operands[count.most]) + "\"", where,
                 help};
}

std::string Arguments::value(const std::string &option, const std::string &otherwise) const
{
    const auto found = m_values.find(option);
    return found == m_values.end() ? otherwise : found->second.back();
}

std::vector<std::string> Arguments::values(const std::string &option) const
{
    const auto found = m_values.find(option);
    return found == m_values.end() ? std::vector<std::string>() : found->second;
}

} // namespace parallax::cli
