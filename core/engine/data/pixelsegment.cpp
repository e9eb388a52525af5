// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/pixelsegment.h"

#include "core/base/atomicfile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t blockMagic = 0x4b434f4c42584c50; // "PLXBLOCK"
constexpr std::uint64_t largestLimit = std::uint64_t(1) << 40;
constexpr std::uint64_t alignment = 16; ///< of blocks

struct Header {
    char magic[8];
    std::uint32_t version, byteOrder;
    std::uint64_t limit;
    std::uint64_t reserved;
};
constexpr Header ours{{'P', 'L', 'X', 'P', 'I', 'X', 'E', 'L'}, 1, 0x01020304, 0, 0};

/// Bytes of the file that stand for "a process writes here" and "a process uses these pixels". Locks go with the open file, so that
/// they also hold within a process, and end with it.
constexpr off_t writerByte = 0, userByte = 1;

struct flock lockOf(short type, off_t first, off_t count)
{
    struct flock lock {
    };
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = first;
    lock.l_len = count;
    return lock;
}

bool tryLock(int fd, short type, off_t first, off_t count = 1)
{
    auto lock = lockOf(type, first, count);
    return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

bool isWritten(int fd)
{
    auto lock = lockOf(F_WRLCK, writerByte, 1);
    return ::fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/// 0, or errno.
int writeAt(int fd, std::uint64_t at, const void *data, std::size_t count)
{
    const auto *next = static_cast<const std::uint8_t *>(data);
    while (count > 0) {
        const ssize_t n = ::pwrite(fd, next, count, off_t(at));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        next += n;
        at += std::uint64_t(n);
        count -= std::size_t(n);
    }
    return 0;
}

std::uint64_t aligned(std::uint64_t at) { return (at + alignment - 1) / alignment * alignment; }

std::uint64_t headChecksum(const PixelBlock &block) { return checksumOf(&block, offsetof(PixelBlock, headChecksum)); }

/// What OpenCV could make a matrix of; `left`: bytes behind the head.
bool isSound(const PixelBlock &block, std::uint64_t left)
{
    if (block.magic != blockMagic || block.headChecksum != headChecksum(block)) return false;
    if (block.rows < 1 || block.columns < 1 || block.type < 0 || block.type > CV_MAKETYPE(CV_16F, CV_CN_MAX)) return false;
    return block.bytes <= left &&
        block.bytes / std::uint64_t(block.columns) / std::uint64_t(block.rows) == std::uint64_t(CV_ELEM_SIZE(block.type)) &&
        block.bytes == std::uint64_t(block.columns) * std::uint64_t(block.rows) * std::uint64_t(CV_ELEM_SIZE(block.type));
}

} // namespace

std::uint64_t checksumOf(const void *bytes, std::size_t count) { return XXH3_64bits(bytes, count); }

Result<std::unique_ptr<PixelSegment>> PixelSegment::create(const fs::path &file, std::uint64_t limit)
{
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return systemError(errno, file, "written");
    std::unique_ptr<PixelSegment> segment(new PixelSegment(fd, file));
    segment->m_writing = true;
    const auto fail = [&](int reason) {
        ::unlink(file.c_str());
        return systemError(reason, file, "written");
    };
    if (!tryLock(fd, F_WRLCK, writerByte)) return fail(errno);
    Header header = ours;
    header.limit = limit;
    if (const int reason = writeAt(fd, 0, &header, sizeof header)) return fail(reason);
    if (!segment->map(limit)) return fail(errno);
    return segment;
}

std::unique_ptr<PixelSegment> PixelSegment::open(const fs::path &file)
{
    const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return nullptr;
    std::unique_ptr<PixelSegment> segment(new PixelSegment(fd, file));
    struct stat info {
    };
    Header header{};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || ::pread(fd, &header, sizeof header, 0) != sizeof header)
        return nullptr;
    if (std::memcmp(&header, &ours, offsetof(Header, limit)) != 0 || header.limit > largestLimit ||
        header.limit < sizeof header || !segment->map(header.limit))
        return nullptr;
    return segment;
}

PixelSegment::~PixelSegment()
{
    if (m_bytes) ::munmap(const_cast<std::uint8_t *>(m_bytes), m_limit);
    ::close(m_fd);
}

/// All that the file may grow to; what lies behind its end is never looked at.
bool PixelSegment::map(std::uint64_t limit)
{
    void *place = ::mmap(nullptr, limit, PROT_READ, MAP_SHARED, m_fd, 0);
    if (place == MAP_FAILED) return false;
    m_bytes = static_cast<const std::uint8_t *>(place);
    m_limit = limit;
    m_scanned = aligned(sizeof(Header));
    return true;
}

std::uint64_t PixelSegment::size() const
{
    struct stat info {
    };
    return ::fstat(m_fd, &info) == 0 ? std::min(std::uint64_t(info.st_size), m_limit) : 0;
}

bool PixelSegment::scan(const std::function<void(std::uint64_t, const PixelBlock &)> &found)
{
    const std::uint64_t end = size();
    while (m_scanned + sizeof(PixelBlock) <= end) {
        const PixelBlock block = blockAt(m_scanned);
        if (block.magic == 0) return true; // its pixels are being written, or their writer is dead
        if (!isSound(block, end - m_scanned - sizeof block)) return m_writing || isWritten(m_fd);
        if (block.live != 0) found(m_scanned, block);
        m_scanned = aligned(m_scanned + sizeof block + block.bytes);
    }
    return true;
}

bool PixelSegment::startWriting()
{
    struct stat info {
    };
    if (!tryLock(m_fd, F_WRLCK, writerByte)) return false;
    m_writing = ::fstat(m_fd, &info) == 0 && info.st_nlink > 0;
    return m_writing;
}

bool PixelSegment::cutBehindScan() { return size() <= m_scanned || ::ftruncate(m_fd, off_t(m_scanned)) == 0; }

bool PixelSegment::hasRoomFor(std::uint64_t bytes) const { return m_scanned + sizeof(PixelBlock) + bytes <= m_limit; }

Result<std::uint64_t> PixelSegment::append(PixelBlock block, const cv::Mat &pixels)
{
    const cv::Mat whole = pixels.isContinuous() ? pixels : pixels.clone();
    block.magic = blockMagic;
    block.rows = whole.rows;
    block.columns = whole.cols;
    block.type = whole.type();
    block.bytes = whole.total() * whole.elemSize();
    block.checksum = checksumOf(whole.data, block.bytes);
    block.headChecksum = headChecksum(block);
    block.live = 1;
    const std::uint64_t at = m_scanned;
    int reason = writeAt(m_fd, at + sizeof block, whole.data, block.bytes);
    if (reason == 0) reason = writeAt(m_fd, at, &block, sizeof block);
    if (reason != 0) {
        (void)!::ftruncate(m_fd, off_t(at)); // gives back what a full disk has taken of it
        return systemError(reason, m_file, "written", sizeof block + block.bytes);
    }
    m_scanned = aligned(at + sizeof block + block.bytes);
    return at;
}

PixelBlock PixelSegment::blockAt(std::uint64_t at) const
{
    PixelBlock block;
    if (at + sizeof block <= size()) std::memcpy(&block, m_bytes + at, sizeof block);
    return block;
}

cv::Mat PixelSegment::pixelsAt(std::uint64_t at) const
{
    const PixelBlock block = blockAt(at);
    if (block.magic == 0 || !isSound(block, size() - at - sizeof block)) return {};
    // OpenCV has no matrix of constant pixels; the mapping allows no writing.
    return {block.rows, block.columns, block.type, const_cast<std::uint8_t *>(m_bytes + at + sizeof block)};
}

void PixelSegment::markDamaged(std::uint64_t at)
{
    const std::uint64_t dead = 0;
    if (at + sizeof(PixelBlock) <= size()) (void)writeAt(m_fd, at + offsetof(PixelBlock, live), &dead, sizeof dead);
}

void PixelSegment::use()
{
    if (m_inUse.exchange(true)) return;
    (void)tryLock(m_fd, F_RDLCK, userByte);
    (void)::futimens(m_fd, nullptr);
}

bool PixelSegment::removeUnused(const fs::path &file)
{
    const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    const bool gone = tryLock(fd, F_WRLCK, writerByte, 2) && ::unlink(file.c_str()) == 0;
    ::close(fd);
    return gone;
}

PixelSegment::Claim PixelSegment::claimOf(const fs::path &file)
{
    const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return {};
    struct stat info {
    };
    Header header{};
    Claim claim;
    if (::fstat(fd, &info) == 0) {
        claim = {std::uint64_t(info.st_size), std::int64_t(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
        if (isWritten(fd) && ::pread(fd, &header, sizeof header, 0) == sizeof header && header.limit <= largestLimit)
            claim.bytes = std::max(claim.bytes, header.limit);
    }
    ::close(fd);
    return claim;
}

} // namespace parallax::data
