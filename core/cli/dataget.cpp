// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/cli/commands.h"
#include "core/cli/output.h"
#include "core/datasets/get.h"
#include "core/session/signals.h"
#include "core/session/supervisor.h"

#include <QEventLoop>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace parallax::cli {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> names()
{
    std::vector<std::string> all;
    for (const auto &set : datasets::published()) all.emplace_back(set.id.name);
    return all;
}

/// How far it is, on stderr: one line that is rewritten on a terminal, a line for every tenth elsewhere, nothing with --json.
class ProgressLine
{
public:
    explicit ProgressLine(bool silent) : m_silent(silent), m_terminal(::isatty(STDERR_FILENO) == 1) { }

    void show(const std::string &what, std::uint64_t done, std::uint64_t total)
    {
        if (m_silent) return;
        if (what != m_what) begin(what, done);
        const auto now = Clock::now();
        if (m_terminal ? now - m_shown < std::chrono::milliseconds(100) : !nextTenth(done, total)) return;
        m_shown = now;
        std::string line = what;
        if (total > 0) line += "  " + std::to_string(done * 100 / total) + " %";
        line += "  " + text::bytes(done) + (total > 0 ? " of " + text::bytes(total) : "");
        const double seconds = std::chrono::duration<double>(now - m_began).count();
        if (seconds > 1 && done > m_from) {
            const double speed = double(done - m_from) / seconds;
            line += "  " + text::bytes(std::uint64_t(speed)) + "/s";
            if (total > done) line += "  " + text::duration(double(total - done) / speed) + " left";
        }
        put(line);
    }
    void say(const std::string &line)
    {
        if (m_silent) return;
        clear();
        note(text::printable(line));
    }
    void clear()
    {
        if (m_terminal && m_open) (void)!::write(STDERR_FILENO, "\r\x1b[2K", 5);
        m_open = false;
    }

private:
    void begin(const std::string &what, std::uint64_t done)
    {
        m_what = what;
        m_began = Clock::now();
        m_from = done;
        m_tenth = -1;
    }
    bool nextTenth(std::uint64_t done, std::uint64_t total)
    {
        const int tenth = total > 0 ? int(done * 10 / total) : 0;
        return tenth > std::exchange(m_tenth, std::max(tenth, m_tenth));
    }
    void put(const std::string &line)
    {
        if (!m_terminal) return note(line);
        const std::string whole = "\r\x1b[2K" + fitted(line, terminalWidth() - 1);
        (void)!::write(STDERR_FILENO, whole.data(), whole.size());
        m_open = true;
    }

    bool m_silent, m_terminal, m_open = false;
    std::string m_what;
    Clock::time_point m_began, m_shown;
    std::uint64_t m_from = 0;
    int m_tenth = -1;
};

/// The work in a thread of its own, so that Ctrl-C is heard meanwhile: once, and it ends with everything kept for the next
/// time; twice, and it ends now.
Result<datasets::Got> getInterruptibly(const datasets::Published &set, const datasets::GetRequest &request,
                                       ProgressLine &line, std::atomic<bool> &cancelled)
{
    datasets::Hooks hooks;
    hooks.cancelled = &cancelled;
    hooks.progress = [&](const std::string &what, std::uint64_t done, std::uint64_t total) { line.show(what, done, total); };
    hooks.note = [&](const std::string &words) { line.say(words); };
    Result<datasets::Got> got = datasets::cancelledError();
    QEventLoop loop;
    session::UnixSignals unixSignals;
    QObject::connect(&unixSignals, &session::UnixSignals::received, &loop, [&](int) {
        if (cancelled.exchange(true)) std::_Exit(session::exitcode::interrupted);
    });
    std::jthread work([&] {
        got = datasets::get(set, request, hooks);
        QMetaObject::invokeMethod(&loop, &QEventLoop::quit, Qt::QueuedConnection);
    });
    loop.exec();
    work.join();
    line.clear();
    return got;
}

Json describe(const datasets::Published &set)
{
    return {{"name", set.id.name},         {"label", set.id.label},  {"what", set.what},
            {"size", set.size()},          {"licence", set.licence}, {"cite", set.cite},
            {"url", set.files.front().url}};
}

int list(const Arguments &arguments)
{
    Json all = Json::array();
    for (const auto &set : datasets::published()) all.push_back(describe(set));
    if (arguments.json()) {
        printJson(all);
        return 0;
    }
    for (const auto &set : datasets::published()) {
        printLine(toned(std::string(set.id.name), Tone::Bold) + "  " + set.what + ", " + text::bytes(set.size()));
        printLine("  licence: " + set.licence);
    }
    return 0;
}

int dataGet(const Arguments &arguments)
{
    const std::string name = arguments.operand();
    if (name.empty()) return list(arguments);
    const datasets::Published *set = datasets::findPublished(name);
    if (!set) {
        const auto near = text::nearest(name, names());
        return fail(arguments,
                    {"there is no data set \"" + text::printable(name) + "\" to load",
                     {},
                     near ? "Did you mean " + *near + '?' : "There are " + text::join(names(), ", ") + '.'});
    }
    datasets::GetRequest request;
    request.url = arguments.value("url");
    request.sha256 = arguments.value("sha256");
    std::ranges::transform(request.sha256, request.sha256.begin(),
                           [](char c) { return c >= 'A' && c <= 'F' ? char(c + 32) : c; });
    if (!request.sha256.empty() &&
        (request.sha256.size() != 64 || request.sha256.find_first_not_of("0123456789abcdef") != std::string::npos))
        return fail(arguments,
                    {"is no SHA-256: 64 hexadecimal digits are asked for", "--sha256", "sha256sum FILE prints it."});
    if (arguments.has("to")) request.to = arguments.value("to");
    if (!arguments.json()) {
        printLine(toned(std::string(set->id.label), Tone::Bold) + ": " + set->what + ", " + text::bytes(set->size()));
        printLine("  licence " + set->licence);
        printLine("  cite    " + set->cite);
    }
    ProgressLine line(arguments.json());
    std::atomic<bool> cancelled = false;
    const auto got = getInterruptibly(*set, request, line, cancelled);
    if (!got) return fail(arguments, got.error(), cancelled ? session::exitcode::interrupted : session::exitcode::failed);
    // By its name where training looks for it, by its path elsewhere.
    const bool byName = got->folder == paths::datasets() / set->id.name;
    const std::string source = byName ? name : got->folder.string();
    if (arguments.json()) {
        Json json = describe(*set);
        json["folder"] = got->folder.string();
        json["source"] = source;
        json["already"] = got->already;
        printJson(json);
        return 0;
    }
    printLine((got->already ? "It is there already: " : "Done: ") + text::printable(got->folder.string()));
    printLine("  use it  --data " + text::printable(source) + "   (data.source)");
    return 0;
}

} // namespace

Command dataGetCommand()
{
    Command command;
    command.name = "data get";
    command.operands = "[NAME]";
    command.summary = "Load a published data set: " + text::join(names(), ", ") + ".";
    command.details =
        "Without NAME: lists them with their licences. Whatever a broken or interrupted (Ctrl-C) load brought is kept, and "
        "the\n"
        "same command goes on from there. Nothing counts as loaded before its SHA-256 is the published one; archives are\n"
        "unpacked into a folder that appears when it is whole. Exit codes: 0 it is there, 1 failed, 2 wrong usage, 130 "
        "Ctrl-C.";
    command.example = "parallax data get cifar10";
    command.options = {
        {"url", "URL", "A mirror: the file itself, or a folder (ending in /) that holds it; http, https, file or a path."},
        {"sha256", "HEX", "Checksum of the archive at --url, where somebody packed it anew."},
        {"to", "DIR", "Make the folder NAME in DIR (default: the user's data folder, where data.source=NAME finds it)."},
        jsonOption()};
    command.run = dataGet;
    return command;
}

} // namespace parallax::cli
