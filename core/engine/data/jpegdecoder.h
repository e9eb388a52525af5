// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/decode.h"

namespace parallax::data {

inline cv::Size shrunk(const cv::Size &size, int by) { return {(size.width + by - 1) / by, (size.height + by - 1) / by}; }

/// RGB of a JPEG whose header readImageHeader has accepted, orientation not applied. libjpeg is called directly: OpenCV's
/// reader prints its warnings and takes a picture with broken data, half of it gray, for a good one.
/// Shrinking is libjpeg's: it leaves out the high frequencies of every block of 8 × 8 pixels. Outside the wanted region no pixels
/// are made, but the compressed data are gone through to their end, so that the same files are refused; inside, the pixels are those
/// of the whole picture.
Result<cv::Mat> decodeJpeg(Bytes bytes, const ImageHeader &header, const Demand &demand);

} // namespace parallax::data
