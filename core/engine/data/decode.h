// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/imageheader.h"

#include <opencv2/core.hpp>

namespace parallax::data {

struct DecodedImage {
    cv::Mat rgb; ///< 8-bit, 3 channels, upright
    ImageHeader header;
};

/// A picture from a file's bytes, by content; the name plays no part. The rules:
/// - first frame or page only; header.frames says how many there are;
/// - gray becomes three equal channels; 16 bits become 8 by division by 257; samples in floating point are refused;
/// - transparency is dropped, colours stay as stored (as PIL's convert("RGB") does);
/// - CMYK JPEG: inks are taken as stored inverted, as Adobe writes them, with or without its marker; colour profiles are
///   not applied;
/// - EXIF orientation is applied exactly once, whatever the format.
/// Errors (without `where`) say what the bytes are instead, or what is wrong with them. Never throws.
Result<DecodedImage> decodeImage(Bytes bytes);

} // namespace parallax::data
