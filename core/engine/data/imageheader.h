// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/data/bytereader.h"

#include <cstdint>
#include <string>

/// What a file's bytes say about the picture in it, read without a decoder: nothing is allocated by what a header claims.
namespace parallax::data {

/// An image of more pixels (16,384 × 16,384) or a longer side is refused: 800 MB of memory for one picture.
inline constexpr std::int64_t maxPixels = std::int64_t(1) << 28;
inline constexpr std::int64_t maxSide = 65'535;

enum class Format { Jpeg, Png, WebP, Bmp, Tiff, Gif, Netpbm };
std::string toString(Format format);

struct ImageHeader {
    Format format = Format::Jpeg;
    std::int64_t width = 0, height = 0; ///< as stored, before the orientation is applied
    int channels = 3;                   ///< as stored: 1 gray, 2 gray + alpha, 3 colour or palette, 4 colour + alpha or CMYK
    int frames = 1;                     ///< frames or pages; only the first is used
    int orientation = 1;                ///< EXIF's, 1 … 8; TIFF: always 1 here, its decoder turns the picture itself
    bool cmyk = false;
    bool animated = false; ///< WebP whose first frame is inside an animation
};

/// Errors (without `where`) say what the file is instead ("an HTML page, not an image"), that it is cut short, that it is
/// damaged, or that it claims more than the limit.
Result<ImageHeader> readImageHeader(Bytes bytes);

/// A PNG file without its ancillary chunks (text, colour profile, animation), which decoders would unpack for nothing.
/// The transparency chunk stays. For bytes that readImageHeader has accepted.
std::string plainPng(Bytes bytes);

} // namespace parallax::data
