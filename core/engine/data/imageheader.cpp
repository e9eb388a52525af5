// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/imageheader.h"

#include "core/engine/data/formats.h"

namespace parallax::data {

std::string toString(Format format)
{
    switch (format) {
    case Format::Jpeg: return "JPEG";
    case Format::Png: return "PNG";
    case Format::WebP: return "WebP";
    case Format::Bmp: return "BMP";
    case Format::Tiff: return "TIFF";
    case Format::Gif: return "GIF";
    case Format::Netpbm: return "PNM";
    }
    return {};
}

Status formats::checkSize(const char *format, std::int64_t width, std::int64_t height)
{
    const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
    if (width <= 0 || height <= 0) return damaged(std::string("its ") + format + " header says " + size);
    if (width > maxSide || height > maxSide || width * height > maxPixels)
        return Error{std::string("its ") + format + " header says " + size + ", over the limit of " +
                         std::to_string(maxPixels / 1'000'000) + " megapixels and " + std::to_string(maxSide) + " a side",
                     {},
                     "Make the picture smaller."};
    return {};
}

Result<ImageHeader> readImageHeader(Bytes bytes)
{
    using namespace formats;
    const ByteReader in(bytes, ByteReader::Order::Little);
    if (in.startsWith("\xFF\xD8\xFF")) return readJpeg(bytes);
    if (in.startsWith("\x89PNG\r\n\x1A\n")) return readPng(bytes);
    if (in.startsWith("RIFF") && in.startsWith("WEBP", 8)) return readWebP(bytes);
    if (tiffByteOrder(bytes)) return readTiff(bytes);
    if (in.startsWith("GIF87a") || in.startsWith("GIF89a")) return readGif(bytes);
    // Two letters are a weak signature: the size of the header that follows must be one that exists.
    if (in.startsWith("BM") && in.has(0, 26) && (in.u32(14) == 12 || (in.u32(14) >= 40 && in.u32(14) <= 124)))
        return readBmp(bytes);
    if (in.u8(0) == 'P' && in.u8(1) >= '1' && in.u8(1) <= '6' && (in.u8(2) == '\n' || in.u8(2) == ' ' || in.u8(2) == '\r'))
        return readNetpbm(bytes);
    return Error{describeForeign(bytes), {}, {}};
}

} // namespace parallax::data
