// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/data/bytereader.h"

#include <opencv2/core.hpp>

/// First frames of formats that OpenCV 4.6 does not read. For bytes whose header readImageHeader has accepted.
namespace parallax::data {

/// RGB of a GIF's first frame on its canvas; around a smaller frame lies the file's background colour. A transparent pixel
/// has the colour that the palette gives it.
Result<cv::Mat> decodeGif(Bytes bytes);

/// RGB of an animated WebP's first frame on its canvas.
Result<cv::Mat> decodeAnimatedWebP(Bytes bytes);

} // namespace parallax::data
