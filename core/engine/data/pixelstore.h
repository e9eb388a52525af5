// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/decode.h"
#include "core/engine/data/pixelsegment.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace parallax::data {

/// Decoded pictures of one data set on disk, which all processes of the machine and later runs share: a folder of segments
/// (pixelsegment.h), one more for each process that adds something. Any number of threads may call.
/// Whatever goes wrong with the files, pictures are decoded as if they were not there, and takeNotices() says it once.
class PixelStore
{
public:
    struct Options {
        std::filesystem::path root; ///< of the stores of all data sets
        std::string name;           ///< of this data set: what it is read from
        std::uint64_t limit = 0;    ///< bytes that all stores together may take
        std::int64_t images = 0;    ///< in the data set: after so many questions, segments that served none may go
    };
    explicit PixelStore(Options options);
    ~PixelStore();

    /// The picture of that key, as `demand` would have it decoded, the whole of it. Its pixels lie in the store: they are only to be
    /// read, and only while it lives. Compared with their checksum when they are first looked at.
    std::optional<cv::Mat> find(const PixelKey &key, const DemandFor &demand);
    /// `stored` and `shrink` as in PixelBlock. Does nothing where the picture is there already, or there is no room.
    void add(const PixelKey &key, const cv::Mat &pixels, const cv::Size &stored, int shrink);
    /// add() would do nothing.
    bool full() const { return m_full || m_questions < m_pausedUntil; }

    const std::filesystem::path &folder() const { return m_folder; }
    std::vector<std::string> takeNotices();

private:
    struct Place {
        std::size_t segment;
        std::uint64_t at;
        std::atomic<bool> checked;
        Place(std::size_t in, std::uint64_t where, bool known) : segment(in), at(where), checked(known) { }
    };
    struct KeyHash {
        std::size_t operator()(const PixelKey &key) const { return std::size_t(key.low); }
    };
    using Index = std::unordered_multimap<PixelKey, Place, KeyHash>;

    using Entry = Index::value_type;
    std::optional<cv::Mat> lookUp(const PixelKey &key, const DemandFor &demand);
    Entry *entryOf(const PixelKey &key, const DemandFor &demand);
    std::optional<cv::Mat> checkedPixels(Place &place);
    void drop(const PixelKey &key, std::size_t segment, std::uint64_t at);
    bool rescan();
    void scan(std::size_t segment);
    Status startSegment(std::uint64_t bytes);
    bool continueSegment(std::uint64_t bytes, std::uint64_t largest);
    bool makeRoom(std::uint64_t bytes) const;
    void stop(const std::string &why);
    void sayDamaged();
    void note(const std::string &what);

    Options m_options;
    std::filesystem::path m_folder;
    std::uint64_t m_segmentBytes, m_freeFloor; ///< half of what was free at the start is left to others
    std::atomic<bool> m_full = false;
    std::atomic<std::int64_t> m_questions = 0, m_pausedUntil = 0; ///< calls of find()

    std::mutex m_writing;      ///< one thread appends; taken before m_mutex
    std::shared_mutex m_mutex; ///< guards what follows; segments stay as long as the store
    std::vector<std::unique_ptr<PixelSegment>> m_segments;
    std::optional<std::size_t> m_own; ///< the one that is appended to
    Index m_index;
    std::chrono::steady_clock::time_point m_scanned{};

    std::mutex m_noticeMutex;
    std::vector<std::string> m_notices;
    bool m_saidDamaged = false;
};

} // namespace parallax::data
