// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/output.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace parallax::cli {

namespace {

const char *escape(Tone tone)
{
    switch (tone) {
    case Tone::Bold: return "\x1b[1m";
    case Tone::Dim: return "\x1b[2m";
    case Tone::Good: return "\x1b[32m";
    case Tone::Warning: return "\x1b[33m";
    case Tone::Bad: return "\x1b[31m";
    case Tone::Plain: break;
    }
    return "";
}

bool coloured()
{
    const char *none = std::getenv("NO_COLOR");
    return stdoutIsTerminal() && !(none && *none);
}

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

} // namespace

std::string toned(const std::string &text, Tone tone)
{
    return tone == Tone::Plain || !coloured() ? text : escape(tone) + text + "\x1b[0m";
}

bool stdoutIsTerminal() { return ::isatty(STDOUT_FILENO) == 1; }

int terminalWidth()
{
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void print(const std::string &text)
{
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void printLine(const std::string &text) { print(text + '\n'); }

void note(const std::string &text)
{
    const std::string line = text + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void printJson(const Json &json) { printLine(json.dump(2, ' ', false, Json::error_handler_t::replace)); }

int fail(const Arguments &arguments, const Error &error, int code) { return fail(arguments.json(), error, code); }

int fail(bool json, const Error &error, int code)
{
    if (json) {
        printJson({{"error", {{"what", error.what}, {"where", error.where}, {"hint", error.hint}}}});
        return code;
    }
    // An Error may have a line for each issue; everything else in it is made safe where it is made.
    note("parallax: " + error.message());
    return code;
}

std::string shown(const Json &object, const char *key)
{
    const auto found = object.find(key);
    if (found == object.end()) return "–";
    return text::printable(found->is_string() ? found->get<std::string>() : found->dump());
}

std::size_t columnsOf(const std::string &text)
{
    return std::size_t(std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

std::string fitted(const std::string &text, int columns)
{
    const std::size_t room = std::size_t(std::max(1, columns));
    if (columnsOf(text) <= room) return text;
    std::size_t seen = 0, end = 0;
    while (end < text.size() && (seen < room || continues(text[end]))) {
        if (!continues(text[end]) && ++seen == room) break;
        ++end;
    }
    return text.substr(0, end) + "…";
}

std::string table(const std::vector<std::vector<std::string>> &rows, const std::vector<bool> &right)
{
    std::vector<std::size_t> widths(right.size(), 0);
    for (const auto &row : rows)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], columnsOf(row[c]));
    std::string all;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::string line;
        for (std::size_t c = 0; c < rows[r].size(); ++c) {
            const std::string pad(widths[c] - columnsOf(rows[r][c]), ' ');
            line += right[c] ? pad + rows[r][c] : rows[r][c] + pad;
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        all += (r == 0 ? toned(line, Tone::Bold) : line) + '\n';
    }
    return all;
}

std::string figure(double value, int decimals) { return std::isfinite(value) ? text::fixed(value, decimals) : "–"; }

std::string span(double seconds) { return std::isfinite(seconds) && seconds >= 0 ? text::duration(seconds) : "–"; }

std::string localTime(double secondsSince1970)
{
    const std::time_t time = std::time_t(secondsSince1970);
    std::tm local{};
    char buffer[32];
    if (secondsSince1970 <= 0 || !::localtime_r(&time, &local)) return "–";
    return {buffer, std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M", &local)};
}

} // namespace parallax::cli
