// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/events.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/runs/limits.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace parallax::runs {

namespace {

/// JSON has no NaN and no infinity: they become the strings that readers know.
void nameNonFinite(Json &value)
{
    if (value.is_structured()) {
        for (Json &child : value) nameNonFinite(child);
    } else if (value.is_number_float()) {
        const double number = value.get<double>();
        if (std::isnan(number))
            value = "NaN";
        else if (std::isinf(number))
            value = number > 0 ? "Infinity" : "-Infinity";
    }
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

ssize_t writeOnce(int fd, const std::string &bytes)
{
    ssize_t n = 0;
    do n = ::write(fd, bytes.data(), bytes.size());
    while (n < 0 && errno == EINTR);
    return n;
}

} // namespace

EventWriter::EventWriter(EventWriter &&other) noexcept : m_fd(std::exchange(other.m_fd, -1)), m_file(std::move(other.m_file))
{
}

EventWriter::~EventWriter()
{
    if (m_fd >= 0) ::close(m_fd);
}

Result<EventWriter> EventWriter::open(const std::filesystem::path &file)
{
    const int fd = ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return systemError(errno, file, "written");
    EventWriter writer(fd, file);
    struct stat info {
    };
    if (::fstat(fd, &info) != 0) return systemError(errno, file, "written");
    if (!S_ISREG(info.st_mode)) return Error{"is not a regular file", file.string(), "Remove it"};
    char last = '\n';
    if (info.st_size > 0 && ::pread(fd, &last, 1, info.st_size - 1) != 1) return systemError(errno, file, "read");
    if (last != '\n' && writeOnce(fd, "\n") != 1) return systemError(errno, file, "written", 1);
    return writer;
}

Status EventWriter::write(const std::string &event, Json fields)
{
    Json line = {{"t", now()}, {"event", event}};
    for (auto &[name, value] : fields.items()) {
        if (name == "t" || name == "event") continue;
        nameNonFinite(value);
        line[name] = std::move(value);
    }
    const std::string bytes = line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    if (bytes.size() > longestLine)
        return Error{"the event " + event + " has " + text::bytes(bytes.size()) + ", more than a reader takes (" +
                         text::bytes(longestLine) + ")",
                     m_file.string(),
                     {}};
    struct stat before {
    };
    if (::fstat(m_fd, &before) != 0) return systemError(errno, m_file, "written");
    const ssize_t n = writeOnce(m_fd, bytes);
    if (n == static_cast<ssize_t>(bytes.size())) return {};
    const int reason = n < 0 ? errno : ENOSPC;
    if (n > 0 && ::ftruncate(m_fd, before.st_size) != 0)
        return systemError(errno, m_file, "cut back to its last whole line");
    return systemError(reason, m_file, "written", bytes.size());
}

} // namespace parallax::runs
