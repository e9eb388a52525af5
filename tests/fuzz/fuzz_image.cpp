// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/decode.h"

#include <cstdlib>

/// The header, and the picture in whole and a part of it; pictures that would take long are only looked at.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    using namespace parallax::data;
    const Bytes bytes(data, size);
    const auto header = readImageHeader(bytes);
    if (!header || std::int64_t(header->width) * std::int64_t(header->height) > 1 << 20) return 0;
    const auto whole = decodeImage(bytes);
    const auto part = decodeImage(bytes, [](const cv::Size &stored) {
        return Demand{1, {0, 0, (stored.width + 1) / 2, (stored.height + 1) / 2}};
    });
    if (whole.ok() != part.ok()) std::abort();
    if (whole && (whole->rgb.type() != CV_8UC3 || whole->rgb.size() != part->rgb.size())) std::abort();
    return 0;
}
