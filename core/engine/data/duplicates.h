// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace parallax::data {

/// 128 bits of a picture's size and pixels: two different ones share them never in practice.
struct PixelHash {
    std::uint64_t low = 0, high = 0;
    auto operator<=>(const PixelHash &) const = default;
};
/// Of an 8-bit picture; XXH3.
PixelHash hashOf(const cv::Mat &picture);

/// Counts pictures that are the same to the last pixel, whatever their files look like.
class DuplicateCount
{
public:
    void add(const PixelHash &pixels, std::int64_t index, int label, bool evaluation)
    {
        m_pictures.push_back({pixels, index, label, evaluation});
    }
    struct Counted {
        std::int64_t copies = 0;                                     ///< pictures in groups of equals, less one a group
        std::int64_t acrossLabels = 0;                               ///< those of groups with more than one label
        std::int64_t acrossSplits = 0;                               ///< pictures to evaluate on that are trained on as well
        std::vector<std::pair<std::int64_t, std::int64_t>> examples; ///< of acrossSplits: both indices; at most 20, in order
    };
    Counted count();

private:
    struct Picture {
        PixelHash pixels;
        std::int64_t index;
        int label;
        bool evaluation;
        auto operator<=>(const Picture &) const = default;
    };
    std::vector<Picture> m_pictures;
};

} // namespace parallax::data
