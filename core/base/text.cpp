// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <numeric>

namespace parallax::text {

namespace {

constexpr std::string_view whitespace = " \t\r\n\v\f";

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

/// Insertions, deletions, substitutions and swaps of neighbours that turn a into b; case does not count.
std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> beforeLast, last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = std::min(row[j], beforeLast[j - 2] + 1);
        }
        beforeLast = last;
        std::swap(last, row);
    }
    return last[b.size()];
}

/// Length of the well-formed UTF-8 sequence at `at`, 0 when there is none (RFC 3629: no overlong forms, no surrogates).
std::size_t sequenceLength(std::string_view s, std::size_t at)
{
    const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
    const auto within = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
    const unsigned first = byte(at);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return within(at + 1, 0x80, 0xBF) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const unsigned low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
        return within(at + 1, low, high) && within(at + 2, 0x80, 0xBF) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const unsigned low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
        return within(at + 1, low, high) && within(at + 2, 0x80, 0xBF) && within(at + 3, 0x80, 0xBF) ? 4 : 0;
    }
    return 0;
}

/// Marks that turn the direction of text around could make a line say something else than it holds (U+202A…, U+2066…).
bool isDirectionMark(std::string_view sequence)
{
    return sequence.size() == 3 && sequence[0] == '\xE2' &&
        ((sequence[1] == '\x80' && sequence[2] >= '\xA8' && sequence[2] <= '\xAE') ||
         (sequence[1] == '\x81' && sequence[2] >= '\xA6' && sequence[2] <= '\xA9'));
}

std::string escaped(std::string_view bytes)
{
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        const auto value = static_cast<unsigned char>(c);
        out += {'\\', 'x', digits[value >> 4], digits[value & 15]};
    }
    return out;
}

template<class T>
std::optional<T> parseWhole(std::string_view s)
{
    if (!s.empty() && s.front() == '+' && s.size() > 1 && s[1] != '-') s.remove_prefix(1);
    T value{};
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (s.empty() || error != std::errc() || end != s.data() + s.size()) return {};
    return value;
}

} // namespace

std::string number(double value)
{
    if (std::isnan(value)) return "nan"; // whatever its sign bit
    char buffer[40];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    return {buffer, result.ptr};
}

std::string fixed(double value, int decimals)
{
    if (!std::isfinite(value)) return number(value);
    char buffer[400]; // the largest double has 309 digits before the point
    const auto result =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, std::clamp(decimals, 0, 60));
    return {buffer, result.ptr};
}

std::optional<double> parseDouble(std::string_view s) { return parseWhole<double>(s); }

std::optional<std::int64_t> parseInt(std::string_view s) { return parseWhole<std::int64_t>(s); }

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string> &candidates)
{
    std::optional<std::string> best;
    std::size_t bestDistance = word.size() / 4 + 2; // about one slip in four letters, and one more
    for (const std::string &candidate : candidates) {
        if (word.size() > 256 || candidate.size() > 256) continue; // the distance takes the product of the lengths
        const std::size_t distance = editDistance(word, candidate);
        if (distance >= bestDistance || distance >= std::max(word.size(), candidate.size())) continue;
        bestDistance = distance;
        best = candidate;
    }
    return best;
}

bool isUtf8(std::string_view s) { return utf8Prefix(s) == s.size(); }

std::size_t utf8Prefix(std::string_view s)
{
    std::size_t at = 0;
    while (at < s.size()) {
        if (static_cast<unsigned char>(s[at]) < 0x80) { // nearly every byte of what is read
            ++at;
            continue;
        }
        const std::size_t length = sequenceLength(s, at);
        if (length == 0) break;
        at += length;
    }
    return at;
}

std::string printable(std::string_view s)
{
    std::string out;
    for (std::size_t at = 0; at < s.size();) {
        const std::size_t length = sequenceLength(s, at);
        const std::string_view sequence = s.substr(at, std::max<std::size_t>(length, 1));
        const auto first = static_cast<unsigned char>(sequence[0]);
        const bool control =
            (length == 1 && (first < 0x20 || first == 0x7F)) || (length == 2 && first == 0xC2 && sequence[1] < '\xA0');
        if (length == 0)
            out += "\xEF\xBF\xBD";
        else if (control || isDirectionMark(sequence))
            out += escaped(sequence);
        else
            out += sequence;
        at += sequence.size();
    }
    return out;
}

std::string bytes(std::uint64_t n)
{
    if (n < 1000) return std::to_string(n) + " B";
    constexpr const char *units[] = {" kB", " MB", " GB", " TB", " PB", " EB"};
    double value = double(n) / 1000;
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < std::size(units)) {
        value /= 1000;
        ++unit;
    }
    return fixed(value, value < 9.95 ? 1 : 0) + units[unit];
}

std::string duration(double seconds)
{
    if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e15) return "–";
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    const auto twoDigits = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
    if (hours == 0) return std::to_string(minutes) + ':' + twoDigits(whole % 60);
    return std::to_string(hours) + ':' + twoDigits(minutes) + ':' + twoDigits(whole % 60);
}

std::string join(const std::vector<std::string> &parts, std::string_view separator)
{
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) out += separator;
        out += parts[i];
    }
    return out;
}

std::vector<std::string> split(std::string_view s, char separator)
{
    std::vector<std::string> parts;
    for (std::size_t from = 0;;) {
        const std::size_t to = s.find(separator, from);
        parts.emplace_back(s.substr(from, to - from));
        if (to == std::string_view::npos) return parts;
        from = to + 1;
    }
}

std::string trimmed(std::string_view s)
{
    const std::size_t first = s.find_first_not_of(whitespace);
    if (first == std::string_view::npos) return {};
    return std::string(s.substr(first, s.find_last_not_of(whitespace) - first + 1));
}

} // namespace parallax::text
