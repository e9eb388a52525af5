// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/strict.h"

#include <optional>

/// Turns what a JSON parser says into what a person can act on. Used by parse().
namespace parallax::json {

/// What is wrong with the text as bytes, before any parsing: empty, UTF-16, not UTF-8, a NUL, a byte order mark where none is
/// allowed.
std::optional<Problem> explainBytes(std::string_view text, bool markAllowed);

/// The parser stopped with `parserSays` after `position` bytes, the last token being `token`.
Problem explainSyntax(std::string_view text, std::size_t position, std::string_view token, std::string_view parserSays);

/// Where the token begins that ends before `end`: a text, a word, or one character.
std::size_t startOfToken(std::string_view text, std::size_t end);

} // namespace parallax::json
