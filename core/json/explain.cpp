// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/json/explain.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace parallax::json {

namespace {

constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view blank = " \t\r\n";

bool contains(std::string_view s, std::string_view part) { return s.find(part) != std::string_view::npos; }

std::string quoted(std::string_view token)
{
    constexpr std::size_t longest = 24;
    return '"' + text::printable(token.substr(0, longest)) + (token.size() > longest ? "…" : "") + '"';
}

bool isWordCharacter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || contains("_-+.", {&c, 1});
}

/// Where the word around `offset` begins: the parser stops inside a word that is none of true, false, null.
std::size_t wordStart(std::string_view text, std::size_t offset)
{
    if (offset >= text.size() || !isWordCharacter(text[offset])) return offset;
    while (offset > 0 && isWordCharacter(text[offset - 1])) --offset;
    return offset;
}

std::string_view wordAt(std::string_view text, std::size_t offset)
{
    std::size_t end = offset;
    while (end < text.size() && isWordCharacter(text[end])) ++end;
    return text.substr(offset, end - offset);
}

/// The last byte before `offset` that is not white space.
char before(std::string_view text, std::size_t offset)
{
    const std::size_t at = text.substr(0, offset).find_last_not_of(blank);
    return at == std::string_view::npos ? '\0' : text[at];
}

bool isNotFinite(std::string_view word)
{
    const auto value = text::parseDouble(word);
    return value && !std::isfinite(*value);
}

Problem explainString(std::string_view parserSays, std::size_t offset)
{
    if (contains(parserSays, "surrogate"))
        return {"text holds half a character (a lone surrogate \\uD800 … \\uDFFF)", "Write the character itself", offset};
    if (contains(parserSays, "control character"))
        return {"text runs over a line end or holds a control character",
                "Close the text with \", or write \\n or \\t for it", offset};
    if (contains(parserSays, "backslash"))
        return {"text holds a backslash that stands for nothing", "Write \\\\ for a backslash", offset};
    if (contains(parserSays, "missing closing quote")) return {"text is never closed", "Close it with \"", offset};
    return {"text is not written as JSON asks", "See \\u and the characters around it", offset};
}

/// The token at `offset` is not what the grammar asks for there.
Problem explainToken(std::string_view text, std::size_t offset, std::string_view says, std::string_view expected)
{
    const std::string_view word = wordAt(text, offset);
    const char first = offset < text.size() ? text[offset] : '\0';
    if (isNotFinite(word)) return {std::string(word) + " is not a number of JSON", "Write a finite number", offset};
    if (first == '\'') return {"text stands in single quotes", "Use double quotes", offset};
    if (first == '/' || first == '#')
        return {"a comment is not allowed here", "Where they are allowed, comments are // … or /* … */", offset};
    if ((first == '}' || first == ']') && before(text, offset) == ',')
        return {std::string("a comma stands before the closing ") + first, "Remove the comma", offset};
    const std::size_t start = text.starts_with(byteOrderMark) ? byteOrderMark.size() : 0;
    if (offset >= start && text.substr(start, offset - start).find_first_not_of(blank) == std::string_view::npos)
        return {"is not JSON: it begins with " + quoted(text.substr(offset, text.find_first_of("\r\n", offset) - offset)),
                "The least is {}", offset};
    if (contains(expected, "end of input")) return {"something follows the end of the document", "Remove it", offset};
    if (contains(says, "object key"))
        return {"a name in double quotes is missing before " + quoted(text.substr(offset, 1)), {}, offset};
    const std::string found = word.empty() ? quoted(text.substr(offset, 1)) : quoted(word);
    return {"did not expect " + found + " here", "Look for a missing comma, colon, quote or bracket before it", offset};
}

} // namespace

std::optional<Problem> explainBytes(std::string_view text, bool markAllowed)
{
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        return Problem{"is written in UTF-16", "Save it as UTF-8", 0};
    const bool marked = text.starts_with(byteOrderMark);
    if (marked && !markAllowed) return Problem{"begins with a byte order mark", "Save it as UTF-8 without one", 0};
    if (!text::isUtf8(text)) return Problem{"is not valid UTF-8 here", "Save it as UTF-8", text::utf8Prefix(text)};
    // The parser takes a NUL for the end of the text and would not look at what follows.
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
        return Problem{"holds a NUL byte", "Save it as plain text in UTF-8", nul};
    const std::string_view body = marked ? text.substr(byteOrderMark.size()) : text;
    if (body.find_first_not_of(blank) == std::string_view::npos) return Problem{"is empty", "The least is {}", 0};
    return {};
}

std::size_t startOfToken(std::string_view text, std::size_t end)
{
    if (end == 0) return 0;
    std::size_t at = end - 1;
    if (text[at] != '"') return wordStart(text, at);
    // Back to the opening quote: one with an even number of backslashes in front.
    while (at > 0) {
        at = text.rfind('"', at - 1);
        if (at == std::string_view::npos) return end - 1;
        const std::size_t other = text.substr(0, at).find_last_not_of('\\');
        const std::size_t backslashes = at - (other == std::string_view::npos ? 0 : other + 1);
        if (backslashes % 2 == 0) return at;
    }
    return at;
}

Problem explainSyntax(std::string_view text, std::size_t position, std::string_view token, std::string_view parserSays)
{
    // "… - what went wrong; last read: 'token'; expected …": the token is the file's own text and must not be searched.
    const std::string_view says = parserSays.substr(0, parserSays.find("; last read"));
    const std::size_t tail = parserSays.rfind("; expected ");
    const std::string_view expected = tail == std::string_view::npos ? std::string_view() : parserSays.substr(tail);
    const std::size_t end = std::min(position, text.size());
    // Only within a text or a number does `token` hold the token alone; else what came before it as well.
    const bool whole =
        contains(says, "invalid string") || contains(says, "invalid number") || contains(says, "number overflow");
    // A control character, which can only be its last, is shown in the token as <U+000A>.
    const std::size_t spelt = end > 0 && static_cast<unsigned char>(text[end - 1]) < 0x20 ? 7 : 0;
    const std::size_t offset =
        whole ? end - std::min(end, token.size() - std::min(token.size(), spelt)) : startOfToken(text, end);
    if (contains(says, "unexpected end of input"))
        return {"ends too early", "A bracket or brace is never closed", text.size()};
    if (contains(says, "invalid string")) return explainString(says, offset);
    if (contains(says, "number overflow")) return {"the number " + quoted(token) + " is too large", {}, offset};
    if (contains(says, "invalid comment"))
        return {"a comment is never closed, or a / stands alone", "Comments are // … or /* … */", offset};
    return explainToken(text, offset, says, expected);
}

} // namespace parallax::json
