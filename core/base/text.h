// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Text without a locale: what is written to files is the same under every LC_ALL.
namespace parallax::text {

/// Shortest form that reads back to the same double ("0.1", "1e-09", "nan").
std::string number(double value);
/// Fixed decimals ("0.6830").
std::string fixed(double value, int decimals);
/// The whole of `s` as a number in C form; nothing for trailing characters.
std::optional<double> parseDouble(std::string_view s);
std::optional<std::int64_t> parseInt(std::string_view s);

/// The candidate with the smallest edit distance to `word`, when that is close enough to be a typing slip.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string> &candidates);

bool isUtf8(std::string_view s);
/// Bytes of the longest prefix that is well-formed UTF-8.
std::size_t utf8Prefix(std::string_view s);
/// `s` made safe for a terminal and a log line: control and escape characters as \xNN, invalid UTF-8 as U+FFFD.
std::string printable(std::string_view s);
/// "1.2 GB", "640 kB": decimal units.
std::string bytes(std::uint64_t n);
/// "1:12:08", "2:36", "0:07" from seconds.
std::string duration(double seconds);
std::string join(const std::vector<std::string> &parts, std::string_view separator);
std::vector<std::string> split(std::string_view s, char separator);
std::string trimmed(std::string_view s);

} // namespace parallax::text
