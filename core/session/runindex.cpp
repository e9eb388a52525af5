// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/runindex.h"

#include "core/base/atomicfile.h"
#include "core/json/strict.h"
#include "core/session/qtconvert.h"

namespace parallax::session {

namespace {

constexpr int format = 2; // of the entries; older files are as good as none
constexpr std::size_t fileLimit = std::size_t(256) << 20;

std::filesystem::path indexFile(const std::filesystem::path &runs) { return runs / ".parallax-index.json"; }

runs::Json stampJson(const FileStamp &stamp) { return runs::Json::array({stamp.size, stamp.time}); }

FileStamp readStamp(const runs::Json &json)
{
    if (!json.is_array() || json.size() != 2 || !json[0].is_number_integer() || !json[1].is_number_integer()) return {};
    return {json[0].get<std::uintmax_t>(), json[1].get<std::int64_t>()};
}

} // namespace

RunIndex::RunIndex(std::filesystem::path runs) : m_runs(std::move(runs)) { }

RunIndex::Entry RunIndex::stampsOf(const runs::RunFolder &folder)
{
    Entry entry;
    entry.record = FileStamp::of(folder.record());
    entry.config = FileStamp::of(folder.config());
    entry.events = FileStamp::of(folder.events(0));
    return entry;
}

void RunIndex::load()
{
    const auto text = readFile(indexFile(m_runs), fileLimit);
    if (!text) return;
    const auto parsed = json::parse(*text);
    const auto *whole = std::get_if<runs::Json>(&parsed);
    if (!whole) return;
    const runs::Json &json = *whole;
    if (!json.is_object() || !json.contains("format") || json["format"] != format || !json.contains("runs") ||
        !json["runs"].is_object())
        return;
    for (const auto &[name, item] : json["runs"].items()) {
        if (!item.is_object() || !item.contains("stamps") || !item["stamps"].is_array() || item["stamps"].size() != 3)
            continue;
        if (!item.contains("summary")) continue;
        auto summary = RunSummary::fromJson(item["summary"]);
        if (!summary) continue;
        relabel(*summary); // it may be older than the schema's cache
        const auto &stamps = item["stamps"];
        m_entries[name] = {readStamp(stamps[0]), readStamp(stamps[1]), readStamp(stamps[2]), std::move(summary).value()};
    }
}

const RunSummary *RunIndex::find(const runs::RunFolder &folder) const
{
    const auto found = m_entries.find(folder.name());
    if (found == m_entries.end()) return nullptr;
    const Entry now = stampsOf(folder);
    const Entry &known = found->second;
    const bool same = known.record == now.record && known.config == now.config && known.events == now.events;
    // The workspace may have been moved: the folder inside the entry is then another one.
    return same && known.summary.folder == toQString(folder.path()) ? &known.summary : nullptr;
}

void RunIndex::put(const runs::RunFolder &folder, const RunSummary &summary)
{
    Entry entry = stampsOf(folder);
    entry.summary = summary;
    m_entries[folder.name()] = std::move(entry);
    m_changed = true;
}

void RunIndex::remove(const std::string &name) { m_changed = m_entries.erase(name) > 0 || m_changed; }

void RunIndex::save()
{
    if (!m_changed) return;
    m_changed = false;
    auto entries = runs::Json::object();
    for (const auto &[name, entry] : m_entries) {
        auto stamps = runs::Json::array({stampJson(entry.record), stampJson(entry.config), stampJson(entry.events)});
        entries[name] = {{"stamps", std::move(stamps)}, {"summary", entry.summary.toJson()}};
    }
    const runs::Json json{{"format", format}, {"runs", std::move(entries)}};
    const auto text = json.dump(-1, ' ', false, runs::Json::error_handler_t::replace);
    if (!writeFileAtomic(indexFile(m_runs), text)) return; // read-only workspaces stay without an index
}

std::vector<RunSummary> summarizeAll(const std::filesystem::path &runs)
{
    RunIndex index(runs);
    index.load();
    std::vector<RunSummary> all;
    for (const runs::RunFolder &folder : runs::listRuns(runs)) {
        if (const RunSummary *known = index.find(folder)) {
            all.push_back(*known);
            continue;
        }
        all.push_back(summarize(folder));
        if (all.back().ended() && all.back().problem.isEmpty()) index.put(folder, all.back());
    }
    index.save();
    return all;
}

} // namespace parallax::session
