// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace parallax::data {

/// A regular file, open for reading at any place by any number of threads. Its size is that at opening.
class OpenFile
{
public:
    static Result<std::shared_ptr<const OpenFile>> open(const std::filesystem::path &path);
    OpenFile(const OpenFile &) = delete;
    OpenFile &operator=(const OpenFile &) = delete;
    ~OpenFile();

    std::uint64_t size() const { return m_size; }
    /// Time of the last change in nanoseconds: with the size, whether a file is still the one that was indexed.
    std::int64_t changed() const { return m_changed; }
    /// Fills `out` from `offset`; returns how many bytes there were. Errors are the system's, without `where`.
    Result<std::size_t> readAt(std::uint64_t offset, std::uint8_t *out, std::size_t count) const;

private:
    OpenFile() = default;
    int m_fd = -1;
    std::uint64_t m_size = 0;
    std::int64_t m_changed = 0;
};

/// The bytes of an array: kept in memory (what was packed), or read from an open file when they are asked for.
class ByteStore
{
public:
    explicit ByteStore(std::string bytes) : m_bytes(std::move(bytes)) { }
    explicit ByteStore(std::shared_ptr<const OpenFile> file) : m_file(std::move(file)) { }

    std::uint64_t size() const { return m_file ? m_file->size() : m_bytes.size(); }
    /// All of `out`, or an Error (without `where`): a file that has become shorter, a disk that fails.
    Status read(std::uint64_t offset, std::uint8_t *out, std::size_t count) const;

private:
    std::string m_bytes;
    std::shared_ptr<const OpenFile> m_file;
};

} // namespace parallax::data
