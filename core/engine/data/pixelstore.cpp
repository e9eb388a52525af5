// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/pixelstore.h"

#include "core/base/atomicfile.h"
#include "core/base/paths.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdio>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

constexpr const char *extension = ".pixels";
constexpr std::uint64_t smallestSegment = 4 << 20, largestSegment = std::uint64_t(1) << 30;
constexpr std::uint64_t segmentsOfLimit = 64; ///< so many full ones reach the limit
constexpr std::size_t mostSegments = 256;     ///< of a store, each of which is an open file
constexpr std::chrono::seconds betweenScans{1};

/// Over all stores below a folder, one process at a time looks for room and makes a file.
class FolderLock
{
public:
    explicit FolderLock(const fs::path &root) : m_fd(::open((root / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600))
    {
        m_held = m_fd >= 0 && ::flock(m_fd, LOCK_EX) == 0;
    }
    FolderLock(const FolderLock &) = delete;
    FolderLock &operator=(const FolderLock &) = delete;
    ~FolderLock()
    {
        if (m_fd >= 0) ::close(m_fd);
    }
    bool held() const { return m_held; }

private:
    int m_fd;
    bool m_held;
};

std::vector<fs::path> segmentsIn(const fs::path &folder)
{
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (it->path().extension() == extension) files.push_back(it->path());
    std::ranges::sort(files);
    return files;
}

/// A file may not grow beyond what the shell allows (ulimit -f): the signal that comes then ends a program.
std::uint64_t fileSizeLimit()
{
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? std::uint64_t(limit.rlim_cur) : RLIM_INFINITY;
}

int wantedShrink(const PixelBlock &block, const DemandFor &demand)
{
    if (block.shrink == 0) return 0;
    return demand ? demand({block.storedWidth, block.storedHeight}).shrink : 1;
}

} // namespace

PixelStore::PixelStore(Options options) : m_options(std::move(options))
{
    char name[32];
    std::snprintf(name, sizeof name, "%016llx",
                  static_cast<unsigned long long>(checksumOf(m_options.name.data(), m_options.name.size())));
    m_folder = m_options.root / name;
    m_segmentBytes = std::clamp(m_options.limit / segmentsOfLimit, smallestSegment, largestSegment);
    std::error_code error;
    fs::create_directories(m_folder, error);
    m_freeFloor = paths::freeSpace(m_folder) / 2;
    if (error) stop("cannot be made: " + error.message());
    std::unique_lock lock(m_mutex);
    rescan();
}

PixelStore::~PixelStore() = default;

std::vector<std::string> PixelStore::takeNotices()
{
    std::lock_guard lock(m_noticeMutex);
    return std::exchange(m_notices, {});
}

void PixelStore::note(const std::string &what)
{
    m_notices.push_back("The cache of decoded images in " + text::printable(m_folder.string()) + ' ' + what);
}

/// Nothing more is added; what is there serves on.
void PixelStore::stop(const std::string &why)
{
    std::lock_guard lock(m_noticeMutex);
    if (!m_full.exchange(true)) note(why + ". The run goes on; what is not in it is decoded every time");
}

void PixelStore::sayDamaged()
{
    std::lock_guard lock(m_noticeMutex);
    if (!std::exchange(m_saidDamaged, true)) note("is damaged: what does not fit its checksum is decoded again");
}

std::optional<cv::Mat> PixelStore::find(const PixelKey &key, const DemandFor &demand)
{
    ++m_questions;
    if (auto pixels = lookUp(key, demand)) return pixels;
    {
        std::unique_lock lock(m_mutex);
        if (std::chrono::steady_clock::now() - m_scanned < betweenScans || !rescan()) return {};
    }
    return lookUp(key, demand);
}

std::optional<cv::Mat> PixelStore::lookUp(const PixelKey &key, const DemandFor &demand)
{
    for (;;) {
        std::size_t segment = 0;
        std::uint64_t at = 0;
        {
            std::shared_lock lock(m_mutex);
            Entry *entry = entryOf(key, demand);
            if (!entry) return {};
            if (auto pixels = checkedPixels(entry->second)) return pixels;
            segment = entry->second.segment;
            at = entry->second.at;
        }
        drop(key, segment, at);
    }
}

/// The block that is as `demand` would have it, or one whose file has become too short to say; null: none. Called with m_mutex
/// held.
PixelStore::Entry *PixelStore::entryOf(const PixelKey &key, const DemandFor &demand)
{
    const auto [begin, end] = m_index.equal_range(key);
    for (auto it = begin; it != end; ++it) {
        const PixelBlock block = m_segments[it->second.segment]->blockAt(it->second.at);
        if (block.magic == 0 || block.shrink == wantedShrink(block, demand)) return &*it;
    }
    return nullptr;
}

/// Nothing: damaged. Threads that check the same pixels at the same time come to the same result.
std::optional<cv::Mat> PixelStore::checkedPixels(Place &place)
{
    PixelSegment &segment = *m_segments[place.segment];
    cv::Mat pixels = segment.pixelsAt(place.at);
    if (pixels.empty()) return {};
    if (!place.checked) {
        const std::size_t bytes = pixels.total() * pixels.elemSize();
        if (checksumOf(pixels.data, bytes) != segment.blockAt(place.at).checksum) return {};
        place.checked = true;
    }
    segment.use();
    return pixels;
}

void PixelStore::drop(const PixelKey &key, std::size_t segment, std::uint64_t at)
{
    sayDamaged();
    std::unique_lock lock(m_mutex);
    const auto [begin, end] = m_index.equal_range(key);
    const auto damaged = std::find_if(
        begin, end, [&](const Entry &entry) { return entry.second.segment == segment && entry.second.at == at; });
    if (damaged != end) m_index.erase(damaged);
    m_segments[segment]->markDamaged(at);
}

/// Looks for what other processes have added. False: nothing. Called with m_mutex held.
bool PixelStore::rescan()
{
    m_scanned = std::chrono::steady_clock::now();
    const std::size_t before = m_index.size();
    for (std::size_t i = 0; i < m_segments.size(); ++i)
        if (i != m_own) scan(i);
    for (const auto &file : segmentsIn(m_folder)) {
        if (m_segments.size() >= mostSegments) break;
        if (std::ranges::any_of(m_segments, [&](const auto &segment) { return segment->file() == file; })) continue;
        auto segment = PixelSegment::open(file);
        if (!segment) continue;
        m_segments.push_back(std::move(segment));
        scan(m_segments.size() - 1);
    }
    return m_index.size() > before;
}

void PixelStore::scan(std::size_t segment)
{
    PixelSegment &file = *m_segments[segment];
    const bool sound = file.scan([&](std::uint64_t at, const PixelBlock &block) {
        m_index.emplace(std::piecewise_construct, std::forward_as_tuple(block.key),
                        std::forward_as_tuple(segment, at, false));
    });
    if (sound) return;
    sayDamaged();
    (void)PixelSegment::removeUnused(file.file()); // what was read of it before stays mapped
}

void PixelStore::add(const PixelKey &key, const cv::Mat &pixels, const cv::Size &stored, int shrink)
{
    const std::uint64_t bytes = pixels.total() * pixels.elemSize();
    if (bytes > m_segmentBytes / 4) return;
    std::lock_guard writing(m_writing);
    if (full()) return;
    {
        std::shared_lock lock(m_mutex);
        if (entryOf(key, [&](const cv::Size &) { return Demand{shrink, {}}; })) return; // another thread was faster
    }
    if (paths::freeSpace(m_folder) < m_freeFloor + bytes)
        return stop("takes half of the space that was free on its disk, which is the most it may");
    if (!m_own || !m_segments[*m_own]->hasRoomFor(bytes)) {
        std::unique_lock lock(m_mutex);
        if (auto status = startSegment(bytes); !status) {
            if (!full()) stop(status.error().what);
            return;
        }
    }
    PixelSegment &own = *m_segments[*m_own];
    const auto at =
        own.append({.key = key, .storedWidth = stored.width, .storedHeight = stored.height, .shrink = shrink}, pixels);
    if (!at) return stop(at.error().what);
    std::unique_lock lock(m_mutex);
    own.use();
    m_index.emplace(std::piecewise_construct, std::forward_as_tuple(key), std::forward_as_tuple(*m_own, *at, false));
}

/// A file to append to, with room for so many bytes of pixels. Called with both mutexes held.
Status PixelStore::startSegment(std::uint64_t bytes)
{
    m_own.reset();
    const std::uint64_t largest = std::min(m_segmentBytes, fileSizeLimit());
    if (bytes + 2 * sizeof(PixelBlock) > largest)
        return Error{"cannot grow: files may not be larger than " + text::bytes(largest) + " (ulimit -f)", {}, {}};
    const FolderLock lock(m_options.root);
    if (!lock.held()) return Error{"cannot be written: " + m_options.root.string() + " takes no lock", {}, {}};
    if (continueSegment(bytes, largest)) return {};
    if (m_segments.size() >= mostSegments || !makeRoom(largest)) {
        // What this data set has no more use for is known when all of it has been asked for: then once more.
        if (m_questions < m_options.images) m_pausedUntil = m_options.images;
        return Error{"has reached its limit of " + text::bytes(m_options.limit) + " (data.cache_size)", {}, {}};
    }
    std::uint64_t number = 0; // a process may have several stores of one folder
    fs::path file;
    std::error_code error;
    do {
        file = m_folder / (std::to_string(::getpid()) + '-' + std::to_string(number++) + extension);
    } while (fs::exists(file, error));
    auto segment = PixelSegment::create(file, largest);
    if (!segment) return segment.error();
    m_segments.push_back(std::move(*segment));
    m_own = m_segments.size() - 1;
    return {};
}

/// One that an earlier process began.
bool PixelStore::continueSegment(std::uint64_t bytes, std::uint64_t largest)
{
    for (std::size_t i = 0; i < m_segments.size(); ++i) {
        PixelSegment &segment = *m_segments[i];
        if (segment.limit() > largest || !segment.hasRoomFor(bytes) || !segment.startWriting()) continue;
        scan(i);
        if (!segment.hasRoomFor(bytes) || !segment.cutBehindScan()) continue;
        m_own = i;
        return true;
    }
    return false;
}

/// Room for a new file: segments that nobody uses go, the longest unused ones first. Those of this data set only when every image
/// has been asked for: they are then of files that are no more.
bool PixelStore::makeRoom(std::uint64_t bytes) const
{
    struct Candidate {
        fs::path file;
        PixelSegment::Claim claim;
    };
    std::vector<Candidate> candidates;
    std::uint64_t sum = bytes;
    std::error_code error;
    for (fs::directory_iterator it(m_options.root, error), end; !error && it != end; it.increment(error))
        for (const auto &file : segmentsIn(it->path())) {
            const auto claim = PixelSegment::claimOf(file);
            sum += claim.bytes;
            if (it->path() != m_folder || m_questions >= m_options.images) candidates.push_back({file, claim});
        }
    std::ranges::sort(candidates, {}, [](const Candidate &candidate) { return candidate.claim.used; });
    for (const auto &[file, claim] : candidates) {
        if (sum <= m_options.limit) break;
        if (PixelSegment::removeUnused(file)) sum -= claim.bytes;
    }
    return sum <= m_options.limit;
}

} // namespace parallax::data
