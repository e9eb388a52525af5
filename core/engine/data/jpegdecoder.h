// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/imageheader.h"

#include <opencv2/core.hpp>

namespace parallax::data {

/// RGB of a JPEG whose header readImageHeader has accepted, orientation not applied. libjpeg is called directly: OpenCV's
/// reader prints its warnings and takes a picture with broken data, half of it gray, for a good one.
Result<cv::Mat> decodeJpeg(Bytes bytes, const ImageHeader &header);

} // namespace parallax::data
