// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"

#include <nlohmann/json.hpp>

#include <array>

namespace parallax::data {

/// Mean and population standard deviation of each channel, of 0 … 1, over all pixels of all readable images. The sums are
/// integers: any number of threads gives the same figures.
struct ChannelStats {
    std::array<double, 3> mean{}, std{};
    std::int64_t images = 0, unreadable = 0;

    /// Standard deviations to divide by: a channel that never changes (below one grey level) gets 1 in place of 0.
    std::array<double, 3> divisors() const;
    /// {"mean", "std": three values each, ready for augment.mean and augment.std, "images", "unreadable", "remark"}; the
    /// remark names constant channels.
    nlohmann::ordered_json toJson() const;
};

/// Error: no image can be read. `threads` 0: one a core.
Result<ChannelStats> channelStats(const Dataset &data, int threads);

} // namespace parallax::data
