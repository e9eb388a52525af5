// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/datasets/unpack.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/datasets/download.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace parallax::datasets {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t block = 1 << 20; // bytes of the archive read at once

/// A file descriptor that closes itself.
class Handle
{
public:
    explicit Handle(int fd = -1) : m_fd(fd) { }
    Handle(Handle &&other) noexcept : m_fd(std::exchange(other.m_fd, -1)) { }
    Handle &operator=(Handle &&other) noexcept
    {
        std::swap(m_fd, other.m_fd);
        return *this;
    }
    ~Handle()
    {
        if (m_fd >= 0) ::close(m_fd);
    }
    int get() const { return m_fd; }
    explicit operator bool() const { return m_fd >= 0; }

private:
    int m_fd;
};

/// The folders and the name of a member; nothing when it would leave the folder or is no name at all.
std::vector<std::string> safeParts(const std::string &member)
{
    if (member.starts_with('/') || member.find('\0') != std::string::npos) return {};
    std::vector<std::string> parts;
    for (auto &part : text::split(member, '/')) {
        if (part.empty() || part == ".") continue;
        if (part == "..") return {};
        parts.push_back(std::move(part));
    }
    return parts;
}

class Unpacker
{
public:
    Unpacker(const fs::path &archive, const fs::path &folder, const UnpackLimits &limits, const Hooks &hooks)
        : m_archivePath(archive), m_folder(folder), m_limits(limits), m_hooks(hooks), m_archive(archive_read_new())
    {
    }
    ~Unpacker() { archive_read_free(m_archive); }
    Unpacker(const Unpacker &) = delete;
    Unpacker &operator=(const Unpacker &) = delete;

    Status run()
    {
        archive_read_support_format_tar(m_archive);
        for (const auto add : {archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
                               archive_read_support_filter_xz, archive_read_support_filter_zstd})
            add(m_archive);
        if (archive_read_open_filename(m_archive, m_archivePath.c_str(), block) != ARCHIVE_OK) return damaged();
        if (::mkdir(m_folder.c_str(), 0777) != 0) return systemError(errno, m_folder, "made");
        m_root = Handle(::open(m_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
        if (!m_root) return systemError(errno, m_folder, "read");
        for (;;) {
            archive_entry *entry = nullptr;
            const int code = archive_read_next_header(m_archive, &entry);
            if (code == ARCHIVE_EOF) break;
            if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return damaged();
            if (auto status = take(entry); !status) return status;
        }
        if (m_files == 0) return refused("holds no files");
        return {};
    }

private:
    Status take(archive_entry *entry)
    {
        const char *given = archive_entry_pathname(entry);
        const std::string member = given ? given : "";
        const auto type = archive_entry_filetype(entry);
        const auto parts = safeParts(member);
        const std::string shown = '"' + text::printable(member) + '"';
        if (type == AE_IFDIR && parts.empty() && member.find("..") == std::string::npos && !member.starts_with('/'))
            return {};
        if (parts.empty()) return refused("holds " + shown + ", which lies outside of its folder");
        if (archive_entry_hardlink(entry) || archive_entry_symlink(entry) || type == AE_IFLNK)
            return refused("holds the link " + shown);
        if (type == AE_IFDIR) {
            const auto folder = enter(parts, parts.size());
            return folder ? Status() : Status(folder.error());
        }
        if (type != AE_IFREG) return refused("holds " + shown + ", which is neither a file nor a folder");
        if (++m_files > m_limits.files) return refused("holds more than " + std::to_string(m_limits.files) + " files");
        const auto folder = enter(parts, parts.size() - 1);
        if (!folder) return folder.error();
        return write(folder->get(), parts.back(), shown);
    }

    /// Opens the first `count` of these folders below the root, one by one and never through a link; makes what is missing.
    Result<Handle> enter(const std::vector<std::string> &parts, std::size_t count)
    {
        Handle folder(::dup(m_root.get()));
        fs::path shown = m_folder;
        for (std::size_t i = 0; i < count; ++i) {
            shown /= parts[i];
            if (::mkdirat(folder.get(), parts[i].c_str(), 0777) != 0 && errno != EEXIST)
                return systemError(errno, shown, "made");
            Handle next(::openat(folder.get(), parts[i].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
            if (!next) return systemError(errno, shown, "entered");
            folder = std::move(next);
        }
        return folder;
    }

    Status write(int folder, const std::string &name, const std::string &shown)
    {
        const Handle file(::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (!file && errno == EEXIST) return refused("holds " + shown + " twice");
        if (!file) return systemError(errno, m_folder / name, "written");
        for (;;) {
            const void *data = nullptr;
            std::size_t bytes = 0;
            la_int64_t offset = 0;
            const int code = archive_read_data_block(m_archive, &data, &bytes, &offset);
            if (code == ARCHIVE_EOF) return {};
            if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return damaged();
            if (m_hooks.isCancelled()) return cancelledError();
            m_bytes += bytes;
            if (m_bytes > m_limits.bytes || offset < 0 || std::uint64_t(offset) > m_limits.bytes)
                return refused("unpacks to more than " + text::bytes(m_limits.bytes));
            if (auto status = writeAt(file.get(), static_cast<const char *>(data), bytes, offset, name); !status)
                return status;
            m_hooks.tell("unpacking", m_bytes, 0);
        }
    }

    Status writeAt(int fd, const char *data, std::size_t bytes, off_t offset, const std::string &name) const
    {
        while (bytes > 0) {
            const ssize_t n = ::pwrite(fd, data, bytes, offset);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return systemError(n < 0 ? errno : ENOSPC, m_folder / name, "written", bytes);
            data += n;
            bytes -= std::size_t(n);
            offset += n;
        }
        return {};
    }

    Error refused(const std::string &what) const
    {
        return {"the archive " + what + ": refused, nothing of it is kept", text::printable(m_archivePath.string()),
                "Take the published file."};
    }
    Error damaged() const
    {
        const char *words = archive_error_string(m_archive);
        return {std::string("the archive is cut short or damaged") + (words ? " (" + text::printable(words) + ')' : ""),
                text::printable(m_archivePath.string()), "Load it again."};
    }

    fs::path m_archivePath, m_folder;
    UnpackLimits m_limits;
    const Hooks &m_hooks;
    archive *m_archive;
    Handle m_root;
    std::uint64_t m_bytes = 0, m_files = 0;
};

} // namespace

Status unpack(const fs::path &archive, const fs::path &folder, const UnpackLimits &limits, const Hooks &hooks)
{
    return Unpacker(archive, folder, limits, hooks).run();
}

} // namespace parallax::datasets
