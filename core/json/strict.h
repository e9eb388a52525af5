// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

/// JSON that somebody else wrote, read without trust: linear in its length, whatever it holds, and never recursive.
namespace parallax::json {

using Json = nlohmann::ordered_json;

struct Rules {
    std::size_t depth = 32;       ///< levels of objects and arrays
    std::size_t keyBytes = 1'000; ///< longest key
    bool comments = false;        ///< // and /* */ and a byte order mark in front
    bool nulText = false;         ///< U+0000 inside text
};

/// Why a text was refused. Phrases for people; `offset` in bytes.
struct Problem {
    std::string what; ///< "the name train appears twice"
    std::string hint; ///< what to do, may be empty
    std::size_t offset = 0;
};

/// The one document of `text`. Refused: what JSON (RFC 8259) does not allow, names that appear twice in an object, numbers
/// beyond a double, invalid UTF-8, lone surrogates, and what breaks `rules`.
std::variant<Json, Problem> parse(std::string_view text, const Rules &rules = {});

/// Line and column, both from 1; a column is a character (code point).
struct Place {
    std::size_t line = 1, column = 1;
};
Place placeOf(std::string_view text, std::size_t offset);

} // namespace parallax::json
