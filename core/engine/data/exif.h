// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/bytereader.h"

#include <opencv2/core.hpp>

namespace parallax::data {

/// The orientation tag (274) of an EXIF block that starts with its TIFF header ("II*\0" or "MM\0*"): 1 … 8. Anything that
/// is not in order (offsets out of the block, another type, a value out of range) is 1, upright.
int exifOrientation(Bytes exif);

/// The picture as it is meant to be seen, for an EXIF orientation 1 … 8 (5 … 8 swap width and height).
cv::Mat oriented(const cv::Mat &stored, int orientation);

} // namespace parallax::data
