// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/wrappeddataset.h"

#include <array>
#include <atomic>
#include <map>

namespace parallax::data {

/// Bytes that this process may still take: of the machine and of its control group, which a batch system may have set.
std::int64_t availableMemory();

/// Images are small that take at most 1 MiB decoded: 590 x 590 pixels. They are never shrunk while decoding: what is kept has to
/// serve every view, and keeping may change none.
bool isSmall(const cv::Size &image);

/// Another data set, with small decoded images kept in memory and unreadable ones remembered, so that neither is decoded
/// in every epoch. Keeping ends for good when `budget` bytes are used, or when half of the memory that was free at the
/// start is gone, whoever took it: several ranks share a machine.
class KeptDataset : public WrappedDataset
{
public:
    KeptDataset(std::shared_ptr<const Dataset> inner, std::int64_t budget);

    Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const override;
    std::int64_t keptBytes() const { return m_used; }

private:
    bool canKeep(const cv::Size &image) const;
    void keep(std::int64_t index, const cv::Mat &image) const;
    std::mutex &lockOf(std::int64_t index) const { return m_locks[std::size_t(index) % m_locks.size()]; }

    std::int64_t m_budget, m_floor;
    mutable std::vector<cv::Mat> m_images; ///< each guarded by the lock of its index
    mutable std::array<std::mutex, 64> m_locks;
    mutable std::atomic<std::int64_t> m_used = 0;
    mutable std::atomic<bool> m_full = false;
    mutable std::mutex m_failureMutex;
    mutable std::map<std::int64_t, Error> m_failures;
};

} // namespace parallax::data
