// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace parallax::cli {

class Arguments;

struct Option {
    std::string name;  ///< "runs"; written --runs
    std::string value; ///< "DIR"; empty: a flag
    std::string help;
};

/// One command, declared once: parsing, --help and the overview come from this.
struct Command {
    std::string name;     ///< "train", "data check"
    std::string operands; ///< "RUN", "[PATH]", "": what follows the name
    std::string summary;  ///< one line
    std::string details;  ///< more lines for --help, may be empty
    std::string example;  ///< "parallax train --preset demo"
    std::vector<Option> options;
    std::function<int(const Arguments &)> run; ///< exit code
    bool hidden = false;                       ///< not in the overview: called by the program itself
};

/// What was written after the command's name.
class Arguments
{
public:
    /// `--name value`, `--name=value`, flags, operands; "--" ends the options. --help is accepted everywhere.
    /// An unknown option is an Error with the nearest one; so is a missing value or operand.
    static Result<Arguments> parse(const Command &command, const std::vector<std::string> &words);

    bool has(const std::string &option) const { return m_values.contains(option); }
    /// The last value given, or `otherwise`.
    std::string value(const std::string &option, const std::string &otherwise = {}) const;
    std::vector<std::string> values(const std::string &option) const;
    std::string operand(std::size_t index = 0) const { return index < m_operands.size() ? m_operands[index] : ""; }
    bool json() const { return has("json"); }
    bool help() const { return has("help"); }

private:
    std::map<std::string, std::vector<std::string>> m_values; ///< flags hold one empty text
    std::vector<std::string> m_operands;
};

} // namespace parallax::cli
