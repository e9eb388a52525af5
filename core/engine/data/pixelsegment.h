// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <opencv2/core.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

namespace parallax::data {

/// What decoded pixels belong to: a hash of the identity of the file they are from.
struct PixelKey {
    std::uint64_t high = 0, low = 0;
    bool operator==(const PixelKey &) const = default;
};

/// The head of a block, as it lies in the file; the pixels follow, row by row.
struct PixelBlock {
    std::uint64_t magic = 0; ///< 0: nothing is here yet
    PixelKey key;
    std::int32_t storedWidth = 0, storedHeight = 0; ///< of the upright picture in its file; 0: shrinking was not asked for
    std::int32_t shrink = 0;                        ///< as Demand::shrink; 0: not asked for
    std::int32_t rows = 0, columns = 0, type = 0;   ///< of the pixels; OpenCV's type
    std::uint64_t bytes = 0, checksum = 0;          ///< of the pixels
    std::uint64_t headChecksum = 0;                 ///< of all above
    std::uint64_t live = 0;                         ///< 0: found damaged later
};

/// A file of decoded pictures, mapped into memory. One process appends to it for as long as it lives, any number read it meanwhile
/// and later. A block's head is written behind its pixels: what is half-written has no head.
class PixelSegment
{
public:
    /// A new file, written by this process alone, that takes up to `limit` bytes.
    static Result<std::unique_ptr<PixelSegment>> create(const std::filesystem::path &file, std::uint64_t limit);
    /// Null for what is no such file, or of another version of the program.
    static std::unique_ptr<PixelSegment> open(const std::filesystem::path &file);
    PixelSegment(const PixelSegment &) = delete;
    PixelSegment &operator=(const PixelSegment &) = delete;
    ~PixelSegment();

    /// Calls `found` with the place and head of each block that has come since the last scan. False: the file is damaged from here
    /// on, and nobody is writing to it.
    bool scan(const std::function<void(std::uint64_t at, const PixelBlock &block)> &found);
    /// True: this process now appends, behind all blocks that are there. False: another one does, or the file is gone.
    bool startWriting();
    /// Once everything is scanned, what a dead writer has left behind the last block goes. False: it cannot be.
    bool cutBehindScan();
    std::uint64_t limit() const { return m_limit; }
    bool hasRoomFor(std::uint64_t bytes) const;
    /// Where the block now lies. `block`: its checksums, magic and bytes are filled in here. Errors are the system's; the file is then
    /// as it was.
    Result<std::uint64_t> append(PixelBlock block, const cv::Mat &pixels);

    /// Zeros: the file has become shorter.
    PixelBlock blockAt(std::uint64_t at) const;
    /// Its pixels in the mapping: only to be read, and only while the segment lives. Empty: the file has become shorter.
    cv::Mat pixelsAt(std::uint64_t at) const;
    /// Other processes and later runs pass it over.
    void markDamaged(std::uint64_t at);
    /// Notes that its pixels are in use: the file is not removed to make room, and counts as used now.
    void use();
    const std::filesystem::path &file() const { return m_file; }

    /// Removes the file unless a process writes to it or uses it. True: it is gone.
    static bool removeUnused(const std::filesystem::path &file);
    /// Bytes that it takes, or may still grow to while it is written to; and when it was last used.
    struct Claim {
        std::uint64_t bytes = 0;
        std::int64_t used = 0; ///< ns
    };
    static Claim claimOf(const std::filesystem::path &file);

private:
    PixelSegment(int fd, std::filesystem::path file) : m_fd(fd), m_file(std::move(file)) { }
    bool map(std::uint64_t limit);
    std::uint64_t size() const;

    int m_fd;
    std::filesystem::path m_file;
    const std::uint8_t *m_bytes = nullptr;
    std::uint64_t m_limit = 0, m_scanned = 0; ///< of the file: most bytes, bytes looked through
    bool m_writing = false;
    std::atomic<bool> m_inUse = false;
};

std::uint64_t checksumOf(const void *bytes, std::size_t count);

} // namespace parallax::data
