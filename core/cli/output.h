// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/cli/arguments.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// What commands print. Numbers have a point whatever the locale; nothing that comes from a file reaches the terminal raw.
namespace parallax::cli {

using Json = nlohmann::ordered_json;

/// Terminal colours; empty where there is no terminal, or where NO_COLOR is set.
enum class Tone { Plain, Bold, Dim, Good, Warning, Bad };
std::string toned(const std::string &text, Tone tone);

bool stdoutIsTerminal(); ///< one that understands escape codes
int terminalWidth();     ///< columns of stdout; 80 where that is not known

void print(const std::string &text); ///< stdout, no line end added
void printLine(const std::string &text = {});
void note(const std::string &text); ///< a line on stderr
void printJson(const Json &json);   ///< indented for people, invalid UTF-8 replaced

/// Prints the Error, as JSON on stdout with --json and else on stderr, and returns `code`.
int fail(const Arguments &arguments, const Error &error, int code = 2);
int fail(bool json, const Error &error, int code = 2);

/// Columns as wide as their widest cell, two blanks between. `right`: numbers. The first row is the head.
std::string table(const std::vector<std::vector<std::string>> &rows, const std::vector<bool> &right);

/// A member of a job's answer as text that is safe to print; "–" where it is missing.
std::string shown(const Json &object, const char *key);

/// `text` cut to so many columns, with an ellipsis where something was cut.
std::string fitted(const std::string &text, int columns);
std::size_t columnsOf(const std::string &text); ///< code points

/// Figures for tables and lines: "–" for what is not known.
std::string figure(double value, int decimals);
std::string span(double seconds);
std::string localTime(double secondsSince1970); ///< "2026-11-30 20:13"

} // namespace parallax::cli
