// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/colour.h"
#include "core/engine/data/dataconfig.h"
#include "core/engine/data/resample.h"

#include <opencv2/core.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace parallax::data {

/// Everything random about a view follows from these four: any number of threads and ranks, in any order, gives the same bytes.
struct ViewKey {
    std::uint64_t seed = 0;
    std::int64_t epoch = 0;
    std::uint64_t sample = 0; ///< Item::id
    int view = 0;
};

constexpr float solariseThreshold = 0.5f;

/// What is random about a view, drawn: whoever makes the pixels, a loader thread or the training device, does these in order.
struct DrawnView {
    struct ColourStep {
        transforms::ColourOperation operation;
        float value;
    };
    /// A Gaussian of 2 * radius + 1 samples; edges are mirrored without repeating the edge pixel. `radius` lies below the view's
    /// size.
    struct Blur {
        int radius;
        float sigma;
    };

    cv::Rect crop; ///< of the image, resized to the view
    Filter filter = Filter::Bilinear;
    bool flipped = false;
    std::vector<ColourStep> jitter; ///< brightness, contrast, saturation and hue in random order, or none
    bool gray = false;
    std::optional<Blur> blur;
    bool solarised = false; ///< at solariseThreshold
};

/// `image`: its size. `key`: see ViewKey.
DrawnView drawView(const cv::Size &image, const AugmentConfig &augment, const ViewKey &key);

} // namespace parallax::data
