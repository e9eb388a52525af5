// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/exif.h"
#include "core/engine/data/formats.h"

#include <algorithm>

namespace parallax::data::formats {

namespace {

/// The number of pictures in a multi-picture file (CIPA DC-007): tag 0xB001 of the index in an APP2 segment.
int multiPictureCount(Bytes index)
{
    const auto order = tiffByteOrder(index);
    if (!order) return 1;
    const ByteReader in(index, *order);
    const std::size_t directory = in.u32(4);
    for (int i = 0; i < in.u16(directory); ++i) {
        const std::size_t entry = directory + 2 + 12 * std::size_t(i);
        if (!in.has(entry, 12)) break;
        if (in.u16(entry) == 0xB001) return int(std::clamp<std::uint32_t>(in.u32(entry + 8), 1, 1'000));
    }
    return 1;
}

/// The place of the next marker in entropy-coded data: 0xFF, then neither a stuffed 0 nor a restart marker.
std::size_t nextMarker(Bytes bytes, std::size_t at)
{
    while (at < bytes.size()) {
        const void *hit = std::memchr(bytes.data() + at, 0xFF, bytes.size() - at);
        if (!hit) return bytes.size();
        at = std::size_t(static_cast<const std::uint8_t *>(hit) - bytes.data());
        const std::uint8_t code = at + 1 < bytes.size() ? bytes[at + 1] : 0;
        if (code != 0 && code != 0xFF && (code < 0xD0 || code > 0xD7)) return at;
        ++at;
    }
    return bytes.size();
}

bool isFrameHeader(std::uint8_t code)
{
    return code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC;
}

} // namespace

Result<ImageHeader> readJpeg(Bytes bytes)
{
    const ByteReader in(bytes, ByteReader::Order::Big);
    ImageHeader header;
    bool frame = false, scan = false;
    for (std::size_t at = 2; in.has(at, 2);) {
        const std::uint8_t code = in.u8(at + 1);
        if (in.u8(at) != 0xFF) { // stray bytes between segments: decoders pass over them too
            at = nextMarker(bytes, at);
            continue;
        }
        if (code == 0xFF) { // fill byte
            ++at;
            continue;
        }
        if (code <= 0x01 || (code >= 0xD0 && code <= 0xD8)) { // markers without a segment
            at += 2;
            continue;
        }
        if (code == 0xD9) {
            if (!scan) return damaged("the JPEG data holds no picture");
            return header;
        }
        const std::size_t length = in.u16(at + 2), body = at + 4;
        if (length < 2 || !in.has(at + 2, length)) break;
        if (isFrameHeader(code)) {
            header.height = in.u16(body + 1);
            header.width = in.u16(body + 3);
            header.channels = in.u8(body + 5);
            header.cmyk = header.channels == 4;
            if (auto status = checkSize("JPEG", header.width, header.height); !status) return status.error();
            frame = true;
        } else if (code == 0xE1 && header.orientation == 1 && in.startsWith(std::string_view("Exif\0\0", 6), body)) {
            header.orientation = exifOrientation(in.part(body + 6, length - 2 - std::min<std::size_t>(length - 2, 6)));
        } else if (code == 0xE2 && in.startsWith(std::string_view("MPF\0", 4), body)) {
            header.frames = multiPictureCount(in.part(body + 4, length - 2 - std::min<std::size_t>(length - 2, 4)));
        }
        at += 2 + length;
        if (code == 0xDA) {
            if (!frame) return damaged("the JPEG data has no frame header");
            scan = true;
            at = nextMarker(bytes, at);
        }
    }
    return cutShort("the JPEG data has no end marker");
}

} // namespace parallax::data::formats
