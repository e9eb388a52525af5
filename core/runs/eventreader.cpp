// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/events.h"

#include "core/json/strict.h"
#include "core/runs/limits.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

namespace parallax::runs {

namespace {

constexpr std::string_view blank = " \t\r";

std::string_view trimmed(std::string_view line)
{
    const std::size_t first = line.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(blank) - first + 1);
}

double finiteOrZero(const Json &line, const char *name)
{
    const auto found = line.find(name);
    if (found == line.end() || !found->is_number()) return 0;
    const double value = found->get<double>();
    return std::isfinite(value) ? value : 0;
}

/// Steps beyond what a double counts exactly are nonsense, and would overflow an integer.
std::int64_t stepOf(const Json &line)
{
    constexpr double largest = 9007199254740992.0; // 2^53
    return static_cast<std::int64_t>(std::clamp(finiteOrZero(line, "step"), 0.0, largest));
}

Event toEvent(Json line)
{
    Event event;
    const auto name = line.find("event");
    event.event = name != line.end() && name->is_string() ? name->get<std::string>() : "metrics";
    event.t = finiteOrZero(line, "t");
    event.step = stepOf(line);
    event.epoch = finiteOrZero(line, "epoch");
    event.fields = std::move(line);
    return event;
}

} // namespace

std::optional<double> figure(const Json &value)
{
    if (value.is_number()) return value.get<double>();
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!value.is_string()) return {};
    const auto &text = value.get_ref<const std::string &>();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    return {};
}

void EventReader::takeLine(std::string_view line, std::vector<Event> &events)
{
    // A power loss leaves a block of NULs where bytes were promised; what is appended later follows it without a line end.
    const std::size_t nuls = std::min(line.find_first_not_of('\0'), line.size());
    line = trimmed(line.substr(nuls));
    if (nuls > 0) ++m_skipped;
    if (line.empty()) return;
    auto parsed = json::parse(line, {.depth = deepestEvent});
    Json *object = std::get_if<Json>(&parsed);
    if (object && object->is_object())
        events.push_back(toEvent(std::move(*object)));
    else if (nuls == 0)
        ++m_skipped; // a line counts once
}

void EventReader::take(std::string_view bytes, std::vector<Event> &events)
{
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view part = bytes.substr(0, end);
        if (!m_discarding && m_pending.size() + part.size() > longestLine) {
            m_discarding = true;
            m_pending.clear();
            ++m_skipped;
        }
        if (end == std::string_view::npos) {
            if (!m_discarding) m_pending += part;
            return;
        }
        if (!m_discarding) takeLine(m_pending.empty() ? part : m_pending += part, events);
        m_discarding = false;
        m_pending.clear();
        bytes.remove_prefix(end + 1);
    }
}

std::vector<Event> EventReader::poll(std::size_t limitBytes)
{
    m_restarted = false;
    std::vector<Event> events;
    const int fd = ::open(m_file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return events;
    struct stat info {
    };
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        ::close(fd);
        return events;
    }
    const bool replaced = m_inode != 0 && m_inode != info.st_ino;
    if (replaced || static_cast<std::uint64_t>(info.st_size) < m_offset) {
        m_restarted = true;
        m_discarding = false;
        m_offset = 0;
        m_skipped = 0;
        m_pending.clear();
    }
    m_inode = info.st_ino;

    std::string buffer(std::size_t(1) << 18, '\0');
    // An empty answer means that there is nothing more for now: blocks without a single event do not end the poll.
    for (std::size_t got = 0; got < limitBytes || events.empty();) {
        const ssize_t n = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(m_offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        m_offset += static_cast<std::uint64_t>(n);
        got += static_cast<std::size_t>(n);
        take({buffer.data(), static_cast<std::size_t>(n)}, events);
    }
    ::close(fd);
    return events;
}

} // namespace parallax::runs
