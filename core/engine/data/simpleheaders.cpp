// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/formats.h"

#include <cctype>
#include <cstdlib>

namespace parallax::data::formats {

namespace {

/// The end of a chain of GIF data blocks (each with a length byte, the last one 0); nothing when the file ends before.
std::optional<std::size_t> skipBlocks(const ByteReader &in, std::size_t at)
{
    while (in.has(at, 1)) {
        const std::size_t length = in.u8(at);
        if (length == 0) return at + 1;
        at += 1 + length;
    }
    return {};
}

std::size_t colorTableBytes(std::uint8_t flags) { return flags & 0x80 ? 3u << ((flags & 7) + 1) : 0; }

/// The next number of a Netpbm header; blanks and comments (# to the end of the line) are passed over. -1: none there.
std::int64_t nextNumber(const ByteReader &in, std::size_t &at)
{
    while (in.has(at, 1) && (std::isspace(in.u8(at)) || in.u8(at) == '#')) {
        if (in.u8(at) == '#')
            while (in.has(at, 1) && in.u8(at) != '\n') ++at;
        else
            ++at;
    }
    std::int64_t value = -1;
    for (; in.has(at, 1) && std::isdigit(in.u8(at)) && value < 1'000'000'000; ++at)
        value = (value < 0 ? 0 : value) * 10 + (in.u8(at) - '0');
    return value;
}

} // namespace

Result<ImageHeader> readGif(Bytes bytes)
{
    const ByteReader in(bytes, ByteReader::Order::Little);
    ImageHeader header;
    header.format = Format::Gif;
    header.width = in.u16(6);
    header.height = in.u16(8);
    if (auto status = checkSize("GIF", header.width, header.height); !status) return status.error();
    int frames = 0;
    std::optional<std::size_t> at = 13 + colorTableBytes(in.u8(10));
    while (at && in.has(*at, 1) && in.u8(*at) != 0x3B) {
        if (in.u8(*at) == 0x21) {
            at = skipBlocks(in, *at + 2);
        } else if (in.u8(*at) == 0x2C) {
            at = skipBlocks(in, *at + 11 + colorTableBytes(in.u8(*at + 9)));
            if (at) ++frames;
        } else if (frames == 0) {
            return damaged("unknown GIF block at byte " + std::to_string(*at));
        } else {
            break;
        }
    }
    // Only the first frame is used: what is missing after it does no harm.
    if (frames == 0) return cutShort("the GIF data ends before its first frame is whole");
    header.frames = frames;
    return header;
}

Result<ImageHeader> readBmp(Bytes bytes)
{
    const ByteReader in(bytes, ByteReader::Order::Little);
    const bool old = in.u32(14) == 12; // OS/2: 16-bit sizes
    ImageHeader header;
    header.format = Format::Bmp;
    header.width = old ? in.u16(18) : std::int64_t(std::int32_t(in.u32(18)));
    header.height = old ? in.u16(20) : std::abs(std::int64_t(std::int32_t(in.u32(22)))); // negative: top row first
    if (auto status = checkSize("BMP", header.width, header.height); !status) return status.error();
    const std::uint64_t bits = in.u16(old ? 24 : 28), compression = old ? 0 : in.u32(30);
    if (compression > 3) return Error{"its BMP data is packed in a way that Parallax does not read", {}, {}};
    if (bits == 32) header.channels = 4;
    const bool packed = compression == 1 || compression == 2;
    const std::uint64_t row = (std::uint64_t(header.width) * bits + 31) / 32 * 4;
    const std::uint64_t needed = in.u32(10) + row * std::uint64_t(header.height);
    if (!packed && needed > in.size())
        return cutShort("the BMP data has " + std::to_string(in.size()) + " of " + std::to_string(needed) + " bytes");
    return header;
}

Result<ImageHeader> readNetpbm(Bytes bytes)
{
    const ByteReader in(bytes, ByteReader::Order::Little);
    const int kind = in.u8(1) - '0'; // 1 … 3 text, 4 … 6 binary; bitmap, gray, colour
    ImageHeader header;
    header.format = Format::Netpbm;
    header.channels = kind % 3 == 0 ? 3 : 1;
    std::size_t at = 2;
    header.width = nextNumber(in, at);
    header.height = nextNumber(in, at);
    if (auto status = checkSize("PNM", header.width, header.height); !status) return status.error();
    const std::int64_t white = kind % 3 == 1 ? 1 : nextNumber(in, at);
    if (white < 1 || white > 65'535) return damaged("its PNM header has no largest value");
    const std::uint64_t samples = std::uint64_t(header.width) * std::uint64_t(header.channels);
    const std::uint64_t row = kind == 4 ? (samples + 7) / 8 : kind < 4 ? samples : samples * (white > 255 ? 2 : 1);
    if (!in.has(at + 1, row * std::uint64_t(header.height))) return cutShort("pixels of the PNM data are missing");
    return header;
}

} // namespace parallax::data::formats
