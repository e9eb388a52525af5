// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/exif.h"
#include "core/engine/data/formats.h"

namespace parallax::data::formats {

namespace {

/// Lossy: 3 bytes frame tag, 3 bytes start code, then two 14-bit sizes. Lossless: one signature byte, then the same less 1.
Status readStill(const ByteReader &in, std::size_t chunk, ImageHeader &header)
{
    if (in.startsWith("VP8 ", chunk)) {
        header.width = in.u16(chunk + 14) & 0x3FFF;
        header.height = in.u16(chunk + 16) & 0x3FFF;
    } else {
        const std::uint32_t bits = in.u32(chunk + 9);
        header.width = std::int64_t(bits & 0x3FFF) + 1;
        header.height = std::int64_t(bits >> 14 & 0x3FFF) + 1;
        header.channels = bits >> 28 & 1 ? 4 : 3;
    }
    return checkSize("WebP", header.width, header.height);
}

} // namespace

Result<ImageHeader> readWebP(Bytes bytes)
{
    const ByteReader in(bytes, ByteReader::Order::Little);
    const std::size_t end = std::size_t(in.u32(4)) + 8;
    if (!in.has(0, end))
        return cutShort("the WebP data has " + std::to_string(in.size()) + " of " + std::to_string(end) + " bytes");
    ImageHeader header;
    header.format = Format::WebP;
    bool extended = false, picture = false;
    int frames = 0;
    for (std::size_t at = 12; at + 8 <= end;) {
        const std::size_t length = in.u32(at + 4);
        if (!in.has(at + 8, length)) return cutShort("a WebP chunk goes beyond its end");
        if (in.startsWith("VP8X", at)) {
            extended = true;
            header.animated = in.u8(at + 8) & 0x02;
            header.channels = in.u8(at + 8) & 0x10 ? 4 : 3;
            header.width = std::int64_t(in.u24(at + 12)) + 1;
            header.height = std::int64_t(in.u24(at + 15)) + 1;
            if (auto status = checkSize("WebP", header.width, header.height); !status) return status.error();
        } else if (in.startsWith("VP8 ", at) || in.startsWith("VP8L", at)) {
            picture = true;
            if (!extended)
                if (auto status = readStill(in, at, header); !status) return status.error();
        } else if (in.startsWith("ANMF", at)) {
            ++frames;
        } else if (in.startsWith("EXIF", at)) {
            // Some writers keep the prefix of a JPEG's segment.
            const std::size_t prefix = in.startsWith(std::string_view("Exif\0\0", 6), at + 8) ? 6 : 0;
            header.orientation = exifOrientation(in.part(at + 8 + prefix, length - prefix));
        }
        at += 8 + length + (length & 1);
    }
    if (header.animated ? frames == 0 : !picture) return damaged("the WebP data holds no picture");
    if (header.animated) header.frames = frames;
    return header;
}

} // namespace parallax::data::formats
