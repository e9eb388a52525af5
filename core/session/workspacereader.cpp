// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/workspacereader.h"

#include "core/session/qtconvert.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace parallax::session {

namespace {

constexpr int intervalMs = 1'000;
// A list that fills in portions is seen at once; each of them is work for the screen, so they grow.
constexpr int firstPortionMs = 150, largestPortionMs = 2'000;
constexpr int gatherMs = 100;  // a hundred new folders are one change, not a hundred
constexpr int saveMs = 10'000; // between two writings of the index, which is a whole file

/// File systems round times to some milliseconds: a folder that changed just now may change again under the same stamp.
bool isSettled(const FileStamp &stamp)
{
    constexpr std::int64_t margin = 100'000'000;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - stamp.time > margin;
}

} // namespace

WorkspaceReader::WorkspaceReader(std::filesystem::path runs, Deliver deliver)
    : m_runs(std::move(runs)), m_deliver(std::move(deliver)), m_index(m_runs), m_watcher(this), m_timer(this), m_soon(this)
{
    m_timer.setInterval(intervalMs);
    connect(&m_timer, &QTimer::timeout, this, [this] { scan(); });
    m_soon.setSingleShot(true);
    m_soon.setInterval(gatherMs);
    connect(&m_soon, &QTimer::timeout, this, [this] { scan(); });
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_soon, [this] {
        if (!m_soon.isActive()) m_soon.start();
    });
}

void WorkspaceReader::start()
{
    m_index.load();
    m_sinceSave.start();
    scan();
    m_index.save(); // what the first look brought; later changes wait for each other
    m_timer.start();
}

void WorkspaceReader::scan(bool listAgain)
{
    m_sinceHandOver.start();
    m_portionMs = firstPortionMs;
    const FileStamp now = FileStamp::of(m_runs);
    if (now != m_listed || listAgain) {
        m_listed = isSettled(now) ? now : FileStamp{};
        list();
        if (m_watcher.directories().isEmpty() && now.time != 0) m_watcher.addPath(toQString(m_runs));
    }
    if (std::exchange(m_first, false)) {
        for (auto &[name, run] : m_known) {
            if (m_cancelled) return;
            show(runs::RunFolder(m_runs / name), run);
            handOverPortion();
        }
        handOver(true);
    }
    for (auto &[name, run] : m_known) {
        if (m_cancelled) return;
        const runs::RunFolder folder(m_runs / name);
        const FileStamp stamp = FileStamp::of(folder.path());
        if (run.read && run.ended && stamp == run.folder) continue;
        run.folder = stamp;
        read(folder, run);
        handOverPortion();
    }
    handOver(false);
    saveIndexSeldom();
}

void WorkspaceReader::saveIndexSeldom()
{
    if (!m_sinceSave.hasExpired(saveMs)) return;
    m_index.save();
    m_sinceSave.start();
}

void WorkspaceReader::handOverPortion()
{
    if (m_sinceHandOver.elapsed() < m_portionMs) return;
    handOver(false);
    saveIndexSeldom();
    m_portionMs = std::min(2 * m_portionMs, largestPortionMs);
}

void WorkspaceReader::list()
{
    std::map<std::string, Run, std::greater<>> found;
    for (const runs::RunFolder &folder : runs::listRuns(m_runs)) {
        const std::string name = folder.name();
        const auto known = m_known.find(name);
        if (known == m_known.end())
            found.emplace(name, Run{});
        else
            found.emplace(name, std::move(known->second));
    }
    for (const auto &entry : std::exchange(m_known, std::move(found))) {
        if (m_known.contains(entry.first)) continue;
        m_index.remove(entry.first);
        const QString folder = toQString(m_runs / entry.first);
        m_changed.erase(folder);
        m_removed.insert(folder);
    }
}

/// What can be said of a run without its events: from the index, or from its two small files.
void WorkspaceReader::show(const runs::RunFolder &folder, Run &run)
{
    if (const auto known = m_index.find(folder)) {
        run.read = run.ended = true;
        run.folder = FileStamp::of(folder.path());
        put(*known);
        return;
    }
    run.summarizer = std::make_unique<Summarizer>(folder);
    run.summarizer->pollRecord();
    put(run.summarizer->summary());
}

void WorkspaceReader::read(const runs::RunFolder &folder, Run &run)
{
    if (!run.summarizer) run.summarizer = std::make_unique<Summarizer>(folder);
    const bool news = run.summarizer->poll();
    const RunSummary &summary = run.summarizer->summary();
    if (news || !run.read) put(summary);
    run.read = true;
    run.ended = summary.ended();
    if (!run.ended) return;
    m_index.put(folder, summary);
    run.summarizer.reset();
}

void WorkspaceReader::put(const RunSummary &summary)
{
    m_removed.remove(summary.folder);
    m_changed.insert_or_assign(summary.folder, summary);
}

void WorkspaceReader::handOver(bool evenIfEmpty)
{
    m_sinceHandOver.restart();
    if (m_changed.empty() && m_removed.isEmpty() && !evenIfEmpty) return;
    WorkspaceUpdate update;
    update.changed.reserve(m_changed.size());
    for (auto &entry : m_changed) update.changed.push_back(std::move(entry.second));
    update.removed = std::exchange(m_removed, {});
    m_changed.clear();
    m_deliver(std::move(update));
}

} // namespace parallax::session
