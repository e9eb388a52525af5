// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/exif.h"

namespace parallax::data {

int exifOrientation(Bytes exif)
{
    const auto order = tiffByteOrder(exif);
    if (!order) return 1;
    const ByteReader in(exif, *order);
    const std::size_t directory = in.u32(4);
    const int entries = in.u16(directory);
    for (int i = 0; i < entries; ++i) {
        const std::size_t entry = directory + 2 + 12 * std::size_t(i);
        if (!in.has(entry, 12)) return 1;
        if (in.u16(entry) != 274) continue;
        const int value = in.u16(entry + 8);
        return in.u16(entry + 2) == 3 && in.u32(entry + 4) == 1 && value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
}

cv::Mat oriented(const cv::Mat &stored, int orientation)
{
    if (orientation < 2 || orientation > 8) return stored;
    cv::Mat turned;
    if (orientation >= 5)
        cv::transpose(stored, turned);
    else
        turned = stored;
    cv::Mat result;
    switch (orientation) {
    case 2: cv::flip(turned, result, 1); break;
    case 3: cv::flip(turned, result, -1); break;
    case 4: cv::flip(turned, result, 0); break;
    case 5: result = turned; break;
    case 6: cv::flip(turned, result, 1); break;
    case 7: cv::flip(turned, result, -1); break;
    case 8: cv::flip(turned, result, 0); break;
    }
    return result;
}

} // namespace parallax::data
