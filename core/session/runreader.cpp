// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/runreader.h"

#include "core/config/schema.h"

#include <chrono>
#include <sys/stat.h>

namespace parallax::session {

namespace {

constexpr std::size_t bytesAtOnce = 1 << 20;

double now()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

FileStamp FileStamp::of(const std::filesystem::path &file)
{
    struct stat status {
    };
    if (::stat(file.c_str(), &status) != 0) return {};
    return {std::uintmax_t(status.st_size), status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec};
}

bool RunReader::exists() const
{
    std::error_code error;
    return std::filesystem::is_directory(m_folder.path(), error);
}

bool RunReader::readRecord()
{
    bool news = false;
    if (const auto stamp = FileStamp::of(m_folder.config()); stamp != m_configStamp) {
        m_configStamp = stamp;
        if (auto config = config::readFile(m_folder.config().string())) m_data.config = std::move(config).value();
        news = true;
    }
    if (const auto stamp = FileStamp::of(m_folder.record()); stamp != m_recordStamp) {
        m_recordStamp = stamp;
        if (auto record = runs::RunRecord::load(m_folder)) m_data.record = std::move(record).value();
        news = true;
    }
    return runs::markIfDead(m_folder, m_data.record) || news;
}

/// The record says how many ranks there are; files of more ranks than that are an earlier attempt's and are shown as well.
void RunReader::findRanks()
{
    const int world = std::max(1, m_data.record.world);
    for (int rank = 0; rank < world || FileStamp::of(m_folder.events(rank)).time != 0; ++rank)
        if (!m_ranks.contains(rank)) m_ranks.emplace(rank, runs::EventReader(m_folder.events(rank)));
}

bool RunReader::readEvents(int budgetMs)
{
    const double end = now() + budgetMs;
    bool news = false, again = false;
    for (auto &[rank, reader] : m_ranks) {
        while (true) {
            const auto events = reader.poll(bytesAtOnce);
            again = again || reader.restarted();
            if (events.empty() || again) break;
            apply(m_data, rank, events);
            news = true;
            if (now() > end) break;
        }
    }
    if (again) return forgetEvents();
    std::int64_t skipped = 0;
    for (const auto &entry : m_ranks) skipped += entry.second.skipped();
    news = news || skipped != m_data.skippedLines;
    m_data.skippedLines = skipped;
    return news;
}

/// A file was replaced under our eyes: what was read of it may never have been. All of it is read anew at the next poll.
bool RunReader::forgetEvents()
{
    m_ranks.clear();
    RunData fresh;
    fresh.record = std::move(m_data.record);
    fresh.config = std::move(m_data.config);
    m_data = std::move(fresh);
    return true;
}

bool RunReader::poll(int budgetMs)
{
    const bool record = readRecord();
    findRanks();
    return readEvents(budgetMs) || record;
}

RunData readRun(const runs::RunFolder &folder)
{
    constexpr int untilAllIsRead = 1 << 30;
    RunReader reader(folder);
    while (reader.poll(untilAllIsRead)) { } // of a live run: until it is caught up with
    return reader.data();
}

} // namespace parallax::session
