// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/runindex.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/json/strict.h"
#include "core/session/qtconvert.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace parallax::session {

namespace {

constexpr std::string_view head = "parallax-index 2"; // another form, another number: an older file is as good as none
constexpr std::size_t fileLimit = std::size_t(512) << 20;
constexpr std::size_t partCount = 8; // name, size and time of three files, summary

std::filesystem::path indexFile(const std::filesystem::path &runs) { return runs / ".parallax-index"; }

/// A name that would break the line stays out of the index; nobody calls a folder that by hand.
bool fits(const std::string &name)
{
    return std::ranges::none_of(name, [](unsigned char c) { return c < 0x20; });
}

std::optional<FileStamp> readStamp(const std::string &size, const std::string &time)
{
    const auto bytes = text::parseInt(size), moment = text::parseInt(time);
    if (!bytes || !moment || *bytes < 0) return {};
    return FileStamp{std::uintmax_t(*bytes), *moment};
}

std::string written(const FileStamp &stamp) { return '\t' + std::to_string(stamp.size) + '\t' + std::to_string(stamp.time); }

/// Parsing events is what costs; runs have nothing to do with each other.
void readInParallel(const std::vector<runs::RunFolder> &folders, const std::vector<std::size_t> &which,
                    std::vector<RunSummary> &into)
{
    constexpr std::size_t most = 8, perThread = 16; // fewer runs are read sooner than threads are made
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < which.size(); i = next++) into[which[i]] = summarize(folders[which[i]]);
    };
    std::vector<std::jthread> threads; // joined at the end
    for (std::size_t i = 1; i < std::min({most, cores, which.size() / perThread}); ++i) threads.emplace_back(work);
    work();
}

} // namespace

RunIndex::RunIndex(std::filesystem::path runs) : m_runs(std::move(runs)) { }

RunIndex::Entry RunIndex::stampsOf(const runs::RunFolder &folder)
{
    return {FileStamp::of(folder.record()), FileStamp::of(folder.config()), FileStamp::of(folder.events(0)), {}};
}

void RunIndex::load()
{
    const auto text = readFile(indexFile(m_runs), fileLimit);
    if (!text || !text->starts_with(head)) return;
    std::string_view rest(*text);
    const auto nextLine = [&rest] {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return line;
    };
    if (nextLine() != head) return;
    while (!rest.empty()) take(nextLine());
}

void RunIndex::take(std::string_view line)
{
    std::vector<std::string> parts;
    while (parts.size() + 1 < partCount) {
        const std::size_t tab = line.find('\t');
        if (tab == std::string_view::npos) return;
        parts.emplace_back(line.substr(0, tab));
        line.remove_prefix(tab + 1);
    }
    const auto record = readStamp(parts[1], parts[2]), config = readStamp(parts[3], parts[4]),
               events = readStamp(parts[5], parts[6]);
    if (record && config && events) m_entries[parts[0]] = {*record, *config, *events, std::string(line)};
}

std::optional<RunSummary> RunIndex::find(const runs::RunFolder &folder) const
{
    const auto found = m_entries.find(folder.name());
    if (found == m_entries.end()) return {};
    const Entry now = stampsOf(folder);
    const Entry &known = found->second;
    if (known.record != now.record || known.config != now.config || known.events != now.events) return {};
    const auto parsed = json::parse(known.summary);
    const auto *json = std::get_if<runs::Json>(&parsed);
    if (!json) return {};
    auto summary = RunSummary::fromJson(*json);
    // The workspace may have been moved: the folder inside the entry is then another one.
    if (!summary || summary->folder != toQString(folder.path())) return {};
    // What could not be read may be readable now, by a change of rights, which leaves size and time as they are.
    if (!summary->problem.isEmpty() && runs::RunRecord::load(folder)) return {};
    relabel(*summary); // it may be older than the schema's cache
    return std::move(summary).value();
}

void RunIndex::put(const runs::RunFolder &folder, const RunSummary &summary)
{
    if (!fits(folder.name())) return;
    Entry entry = stampsOf(folder);
    entry.summary = summary.toJson().dump(-1, ' ', false, runs::Json::error_handler_t::replace);
    m_entries[folder.name()] = std::move(entry);
    m_changed = true;
}

void RunIndex::remove(const std::string &name) { m_changed = m_entries.erase(name) > 0 || m_changed; }

void RunIndex::save()
{
    if (!m_changed) return;
    m_changed = false;
    std::string text(head);
    text += '\n';
    for (const auto &[name, entry] : m_entries)
        text += name + written(entry.record) + written(entry.config) + written(entry.events) + '\t' + entry.summary + '\n';
    if (!writeFileAtomic(indexFile(m_runs), text)) return; // read-only workspaces stay without an index
}

std::vector<RunSummary> summarizeAll(const std::filesystem::path &runs)
{
    RunIndex index(runs);
    index.load();
    const std::vector<runs::RunFolder> folders = runs::listRuns(runs);
    std::vector<RunSummary> all(folders.size());
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < folders.size(); ++i) {
        auto known = index.find(folders[i]);
        if (known)
            all[i] = std::move(*known);
        else
            unknown.push_back(i);
    }
    readInParallel(folders, unknown, all);
    for (const std::size_t i : unknown)
        if (all[i].ended()) index.put(folders[i], all[i]);
    index.save();
    return all;
}

} // namespace parallax::session
