// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/imageheader.h"

#include <opencv2/core.hpp>

#include <functional>

namespace parallax::data {

struct DecodedImage {
    cv::Mat rgb; ///< 8-bit, 3 channels, upright
    ImageHeader header;
};

/// What will be looked at of a picture. Only JPEG files are decoded in part or smaller; of others, all pixels are there.
struct Demand {
    int shrink = 1;  ///< 1, 2, 4 or 8: both sides are divided by it, rounded up
    cv::Rect region; ///< of the picture after shrinking, upright; the other pixels have no meaning
};
/// Asked with the upright size of the stored picture, before anything is decoded.
using DemandFor = std::function<Demand(const cv::Size &stored)>;

/// A picture from a file's bytes, by content; the name plays no part. The rules:
/// - first frame or page only; header.frames says how many there are;
/// - gray becomes three equal channels; 16 bits become 8 by division by 257; samples in floating point are refused;
/// - transparency is dropped, colours stay as stored (as PIL's convert("RGB") does);
/// - CMYK JPEG: inks are taken as stored inverted, as Adobe writes them, with or without its marker; colour profiles are
///   not applied;
/// - EXIF orientation is applied exactly once, whatever the format.
/// A file is refused or not whatever the demand: also of pixels that nobody wants the data are checked.
/// Errors (without `where`) say what the bytes are instead, or what is wrong with them. Never throws.
Result<DecodedImage> decodeImage(Bytes bytes, const DemandFor &demand = {});

} // namespace parallax::data
