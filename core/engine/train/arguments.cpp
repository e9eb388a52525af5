// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/arguments.h"

#include "core/base/text.h"
#include "core/engine/train/failure.h"

#include <algorithm>

namespace parallax::train {
namespace {

std::vector<std::string> withoutMarks(std::vector<std::string> options)
{
    for (std::string &option : options)
        if (option.ends_with('!') || option.ends_with('+')) option.pop_back();
    return options;
}

} // namespace

Result<Arguments> Arguments::parse(const std::vector<std::string> &words, const std::vector<std::string> &options)
{
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string &option = words[i];
        if (std::find(options.begin(), options.end(), option + '!') != options.end()) {
            arguments.m_values[option] = "";
            continue;
        }
        const bool several = std::find(options.begin(), options.end(), option + '+') != options.end();
        if (!several && std::find(options.begin(), options.end(), option) == options.end()) {
            const auto names = withoutMarks(options);
            const auto nearest = text::nearest(option, names);
            return Error{"unknown option " + text::printable(option),
                         {},
                         nearest ? "Did you mean " + *nearest + "?" : "It takes " + text::join(names, " ")};
        }
        if (i + 1 == words.size()) return Error{option + " needs a value", {}, {}};
        if (several) {
            arguments.m_lists[option].push_back(words[++i]);
            continue;
        }
        if (!arguments.m_values.emplace(option, words[++i]).second) return Error{option + " is given twice", {}, {}};
    }
    return arguments;
}

std::vector<std::string> Arguments::values(const std::string &option) const
{
    const auto found = m_lists.find(option);
    return found == m_lists.end() ? std::vector<std::string>() : found->second;
}

std::string Arguments::text(const std::string &option, std::string fallback) const
{
    const auto found = m_values.find(option);
    return found == m_values.end() ? fallback : found->second;
}

std::string Arguments::required(const std::string &option) const
{
    if (!has(option)) throw Failure({option + " is missing", "command line", {}});
    return m_values.at(option);
}

std::int64_t Arguments::number(const std::string &option, std::int64_t fallback, std::int64_t least) const
{
    if (!has(option)) return fallback;
    const auto value = text::parseInt(m_values.at(option));
    if (!value || *value < least)
        throw Failure({option + " " + text::printable(m_values.at(option)) + " is not a whole number of at least " +
                           std::to_string(least),
                       "command line",
                       {}});
    return *value;
}

} // namespace parallax::train
