// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/keptdataset.h"

#include "core/base/text.h"

#include <algorithm>
#include <fstream>

namespace parallax::data {

namespace {

constexpr std::int64_t largestKept = 1 << 20; // bytes of one decoded image
constexpr std::int64_t recheck = 64 << 20;    // how often the free memory is looked at

/// The number in a one-number file; nothing for "max" or no such file.
std::optional<std::int64_t> numberIn(const std::string &file)
{
    std::ifstream in(file);
    std::int64_t value = 0;
    if (in >> value) return value;
    return {};
}

/// Control groups, version 2: what is left of the limit of this process's own group.
std::optional<std::int64_t> leftInControlGroup()
{
    std::ifstream in("/proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("0::")) continue;
        const std::string folder = "/sys/fs/cgroup" + line.substr(3);
        const auto limit = numberIn(folder + "/memory.max"), used = numberIn(folder + "/memory.current");
        if (limit && used) return std::max<std::int64_t>(0, *limit - *used);
    }
    return {};
}

} // namespace

std::int64_t availableMemory()
{
    std::int64_t available = 0;
    std::ifstream in("/proc/meminfo");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("MemAvailable:")) {
            const auto kilobytes = text::split(text::trimmed(std::string_view(line).substr(13)), ' ');
            available = text::parseInt(kilobytes.front()).value_or(0) * 1024;
        }
    return std::min(available, leftInControlGroup().value_or(available));
}

KeptDataset::KeptDataset(std::shared_ptr<const Dataset> inner, std::int64_t budget)
    : WrappedDataset(std::move(inner)), m_budget(budget), m_floor(availableMemory() / 2),
      m_images(std::size_t(m_inner->size()))
{
}

bool isSmall(const cv::Size &image) { return 3 * std::int64_t(image.width) * image.height <= largestKept; }

bool KeptDataset::canKeep(const cv::Size &image) const { return !m_full && isSmall(image); }

Result<cv::Mat> KeptDataset::imageFor(std::int64_t index, const DemandFor &demand) const
{
    {
        std::lock_guard lock(lockOf(index));
        if (const cv::Mat &kept = m_images.at(std::size_t(index)); !kept.empty()) return kept;
    }
    {
        std::lock_guard lock(m_failureMutex);
        if (const auto it = m_failures.find(index); it != m_failures.end()) return it->second;
    }
    bool whole = true; // what is kept must be
    auto image = demand ? m_inner->imageFor(index,
                                            [&](const cv::Size &stored) {
                                                whole = canKeep(stored);
                                                return whole ? Demand{1, {{}, stored}} : demand(stored);
                                            })
                        : m_inner->image(index);
    if (image) {
        if (whole) keep(index, *image);
    } else {
        std::lock_guard lock(m_failureMutex);
        m_failures.emplace(index, image.error());
    }
    return image;
}

void KeptDataset::keep(std::int64_t index, const cv::Mat &image) const
{
    if (!canKeep(image.size())) return;
    const std::int64_t bytes = std::int64_t(image.total() * image.elemSize());
    const std::int64_t before = m_used.fetch_add(bytes), after = before + bytes;
    if (after > m_budget || (before / recheck != after / recheck && availableMemory() < m_floor)) {
        m_used -= bytes;
        m_full = true;
        return;
    }
    std::lock_guard lock(lockOf(index));
    cv::Mat &place = m_images[std::size_t(index)];
    if (place.empty())
        place = image;
    else
        m_used -= bytes; // another thread was faster
}

} // namespace parallax::data
