// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/atomicfile.h"

#include "core/base/paths.h"
#include "core/base/text.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace parallax {

namespace fs = std::filesystem;

namespace {

fs::path folderOf(const fs::path &path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// ".<name>.<pid>.tmp": only leftovers of this very file are ours to remove.
bool isTemporaryOf(const std::string &candidate, const std::string &name)
{
    const std::string prefix = '.' + name + '.', suffix = ".tmp";
    if (candidate.size() <= prefix.size() + suffix.size()) return false;
    const std::string pid = candidate.substr(prefix.size(), candidate.size() - prefix.size() - suffix.size());
    return candidate.starts_with(prefix) && candidate.ends_with(suffix) &&
        pid.find_first_not_of("0123456789") == std::string::npos;
}

/// The writer of a temporary file holds a lock on it for as long as it lives: one that can be locked has lost its writer.
void removeAbandoned(const fs::path &folder, const std::string &name)
{
    std::error_code ignored;
    for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
        if (!isTemporaryOf(it->path().filename().string(), name)) continue;
        const int fd = ::open(it->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0) continue;
        if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(it->path().c_str());
        ::close(fd);
    }
}

/// A new locked file of that name; -1 with errno.
int createLocked(const fs::path &temporary)
{
    for (int attempt = 0; attempt < 8; ++attempt) {
        const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0) return -1;
        struct stat info {
        };
        // Another process may have taken the file for abandoned before it was locked: then it has no name any more.
        if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &info) == 0 && info.st_nlink > 0) return fd;
        ::close(fd);
    }
    errno = EBUSY;
    return -1;
}

bool syncFolder(const fs::path &folder)
{
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return false;
    // Some network file systems cannot sync a folder and say EINVAL: the rename is all there is then.
    const bool done = ::fsync(fd) == 0 || errno == EINVAL;
    const int reason = errno;
    ::close(fd);
    errno = reason;
    return done;
}

} // namespace

Error systemError(int errnoValue, const fs::path &path, std::string_view doing, std::size_t asked)
{
    const bool full = errnoValue == ENOSPC || errnoValue == EDQUOT;
    const std::uint64_t free = paths::freeSpace(path);
    Error error;
    error.where = text::printable(path.string());
    error.what = full ? "disk full: cannot be " : "cannot be ";
    error.what += std::string(doing) + ": " + std::generic_category().message(errnoValue);
    if (asked > 0) error.what += " (" + text::bytes(asked) + " asked for, " + text::bytes(free) + " free)";
    constexpr std::uint64_t littleRoom = 1 << 20;
    if (full && free > std::max<std::uint64_t>(asked, littleRoom))
        error.hint =
            "There is room, so it is a quota (quota -s) or the number of files (df -i): free some, or choose another "
            "place";
    else if (full)
        error.hint = "Free some space, or choose another place";
    else if (errnoValue == EFBIG)
        error.hint = "Raise the limit of file sizes (ulimit -f), or choose a place whose file system takes larger files";
    else if (errnoValue == EACCES || errnoValue == EPERM || errnoValue == EROFS)
        error.hint = "Choose a place that you may write to, or change its permissions";
    else if (errnoValue == EMFILE || errnoValue == ENFILE)
        error.hint = "Raise the limit of open files (ulimit -n)";
    return error;
}

AtomicFile::AtomicFile(int fd, fs::path path, fs::path temporary)
    : m_fd(fd), m_path(std::move(path)), m_temporary(std::move(temporary))
{
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : m_fd(std::exchange(other.m_fd, -1)), m_path(std::move(other.m_path)), m_temporary(std::move(other.m_temporary)),
      m_written(other.m_written)
{
}

AtomicFile::~AtomicFile()
{
    if (m_fd < 0) return;
    ::unlink(m_temporary.c_str());
    ::close(m_fd);
}

Result<AtomicFile> AtomicFile::create(const fs::path &path)
{
    const fs::path folder = folderOf(path);
    const std::string name = path.filename().string();
    removeAbandoned(folder, name);
    fs::path temporary = folder / ('.' + name + '.' + std::to_string(::getpid()) + ".tmp");
    const int fd = createLocked(temporary);
    if (fd < 0) return systemError(errno, path, "written");
    return AtomicFile(fd, path, std::move(temporary));
}

Status AtomicFile::write(const void *data, std::size_t bytes)
{
    const char *next = static_cast<const char *>(data);
    std::size_t left = bytes;
    while (left > 0) {
        const ssize_t n = ::write(m_fd, next, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return systemError(n < 0 ? errno : ENOSPC, m_path, "written", m_written + left);
        next += n;
        left -= static_cast<std::size_t>(n);
        m_written += static_cast<std::size_t>(n);
    }
    return {};
}

Status AtomicFile::commit()
{
    if (::fsync(m_fd) != 0) return systemError(errno, m_path, "written", m_written);
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0) return systemError(errno, m_path, "written", m_written);
    ::close(std::exchange(m_fd, -1));
    if (!syncFolder(folderOf(m_path))) return systemError(errno, folderOf(m_path), "synchronised");
    return {};
}

Status writeFileAtomic(const fs::path &path, std::string_view bytes)
{
    auto file = AtomicFile::create(path);
    if (!file) return file.error();
    if (auto written = file->write(bytes.data(), bytes.size()); !written) return written;
    return file->commit();
}

Result<std::string> readFile(const fs::path &path, std::size_t limit)
{
    // Non-blocking, so that a pipe without a writer cannot hold the program up before it is recognised.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return systemError(errno, path, "read");
    struct Closer {
        int fd;
        ~Closer() { ::close(fd); }
    } closer{fd};
    struct stat info {
    };
    if (::fstat(fd, &info) != 0) return systemError(errno, path, "read");
    const std::string where = text::printable(path.string());
    if (S_ISDIR(info.st_mode)) return Error{"is a folder, not a file", where, "Name a file in it"};
    if (!S_ISREG(info.st_mode)) return Error{"is not a regular file", where, "Copy its content to a file"};

    std::string bytes;
    const auto size = static_cast<std::size_t>(info.st_size);
    if (size <= limit) bytes.reserve(size);
    char buffer[1 << 16];
    // Read to the end whatever the size said: files of /proc say 0, and a file may grow meanwhile.
    while (size <= limit && bytes.size() <= limit) {
        const ssize_t n = ::read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return systemError(errno, path, "read");
        if (n == 0) return bytes;
        bytes.append(buffer, static_cast<std::size_t>(n));
    }
    return Error{"is too large: " + text::bytes(std::max(size, bytes.size())) + ", at most " + text::bytes(limit) +
                     " are read",
                 where, "Check that it is the file you meant"};
}

} // namespace parallax
