// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace parallax {

/// A file that is seen whole or not at all: written to a temporary name beside it, fsynced, renamed, the folder fsynced.
/// An AtomicFile that is not committed removes its temporary file, so a full disk leaves the earlier file as it was. What a
/// killed process left behind (.<name>.<pid>.tmp, no longer locked by anybody) goes when the file is written next.
class AtomicFile
{
public:
    static Result<AtomicFile> create(const std::filesystem::path &path);
    AtomicFile(AtomicFile &&other) noexcept;
    AtomicFile &operator=(AtomicFile &&) = delete;
    ~AtomicFile();

    /// Errors name the path, the reason of the system ("No space left on device"), the bytes asked for and the free ones.
    Status write(const void *data, std::size_t bytes);
    Status commit();

private:
    AtomicFile(int fd, std::filesystem::path path, std::filesystem::path temporary);
    int m_fd = -1;
    std::filesystem::path m_path, m_temporary;
    std::size_t m_written = 0;
};

Status writeFileAtomic(const std::filesystem::path &path, std::string_view bytes);

/// The whole regular file as bytes; an Error for a missing, unreadable or over-long one (limit in bytes).
Result<std::string> readFile(const std::filesystem::path &path, std::size_t limit = std::size_t(1) << 30);

/// What the system says of a failed call on `path`: "cannot be written: No space left on device (12.0 kB asked for, 0 B
/// free)" with `asked` > 0, plain "cannot be read: Permission denied" otherwise. `doing` is the participle: "written".
Error systemError(int errnoValue, const std::filesystem::path &path, std::string_view doing, std::size_t asked = 0);

} // namespace parallax
