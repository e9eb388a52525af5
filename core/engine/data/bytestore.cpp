// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/bytestore.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace parallax::data {

Result<std::shared_ptr<const OpenFile>> OpenFile::open(const std::filesystem::path &path)
{
    const std::shared_ptr<OpenFile> file(new OpenFile);
    // Non-blocking, so that a pipe without a writer cannot hold the program up before it is recognised.
    file->m_fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info {
    };
    if (file->m_fd < 0 || ::fstat(file->m_fd, &info) != 0) return systemError(errno, path, "read");
    if (!S_ISREG(info.st_mode))
        return Error{S_ISDIR(info.st_mode) ? "is a folder, not a file" : "is not a regular file",
                     text::printable(path.string()), "Name a regular file."};
    file->m_size = std::uint64_t(info.st_size);
    file->m_changed = std::int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
    return std::shared_ptr<const OpenFile>(file);
}

OpenFile::~OpenFile()
{
    if (m_fd >= 0) ::close(m_fd);
}

Result<std::size_t> OpenFile::readAt(std::uint64_t offset, std::uint8_t *out, std::size_t count) const
{
    std::size_t done = 0;
    while (done < count) {
        const ssize_t n = ::pread(m_fd, out + done, count - done, off_t(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return Error{"cannot be read: " + std::string(std::strerror(errno)), {}, {}};
        if (n == 0) break;
        done += std::size_t(n);
    }
    return done;
}

Status ByteStore::read(std::uint64_t offset, std::uint8_t *out, std::size_t count) const
{
    if (offset > size() || count > size() - offset) return Error{"ends before the image does", {}, {}};
    if (!m_file) {
        std::memcpy(out, m_bytes.data() + offset, count);
        return {};
    }
    const auto got = m_file->readAt(offset, out, count);
    if (!got) return got.error();
    if (*got < count) return Error{"the file has become shorter since it was opened", {}, "Load the file again."};
    return {};
}

} // namespace parallax::data
