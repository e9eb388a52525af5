// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/exif.h"
#include "core/engine/data/formats.h"

#include <zlib.h>

#include <algorithm>

namespace parallax::data {

namespace {

constexpr std::size_t signatureBytes = 8;
constexpr std::uint64_t maxDeflateRatio = 1'032; // no deflate stream unpacks to more than that many times its size

struct Chunk {
    std::size_t at = 0, length = 0; ///< at: of the length field
    std::string_view type;
    std::size_t body() const { return at + 8; }
    std::size_t next() const { return at + 12 + length; }
    bool ancillary() const { return type[0] & 0x20; }
};

bool readChunk(const ByteReader &in, Bytes bytes, std::size_t at, Chunk &chunk)
{
    if (!in.has(at, 12)) return false;
    chunk = {at, in.u32(at), std::string_view(reinterpret_cast<const char *>(bytes.data()) + at + 4, 4)};
    return in.has(at + 8, chunk.length + 4);
}

bool checksumHolds(const ByteReader &in, Bytes bytes, const Chunk &chunk)
{
    return crc32(0, bytes.data() + chunk.at + 4, uInt(chunk.length + 4)) == in.u32(chunk.body() + chunk.length);
}

Status readIhdr(const ByteReader &in, std::size_t body, ImageHeader &header, std::uint64_t &rawBytes)
{
    header.width = in.u32(body);
    header.height = in.u32(body + 4);
    const unsigned depth = in.u8(body + 8), color = in.u8(body + 9);
    if (auto status = formats::checkSize("PNG", header.width, header.height); !status) return status;
    unsigned samples = 0;
    switch (color) {
    case 0: samples = 1, header.channels = 1; break;
    case 2: samples = 3, header.channels = 3; break;
    case 3: samples = 1, header.channels = 3; break;
    case 4: samples = 2, header.channels = 2; break;
    case 6: samples = 4, header.channels = 4; break;
    default: return formats::damaged("colour type " + std::to_string(color) + " in its PNG header");
    }
    rawBytes = std::uint64_t(header.height) * ((std::uint64_t(header.width) * samples * depth + 7) / 8);
    return {};
}

} // namespace

Result<ImageHeader> formats::readPng(Bytes bytes)
{
    const ByteReader in(bytes, ByteReader::Order::Big);
    ImageHeader header;
    header.format = Format::Png;
    std::uint64_t rawBytes = 0, packedBytes = 0;
    std::uint32_t animated = 0;
    bool stillIsFrame = false; // a frame header before the image data makes the still picture the first frame
    Chunk chunk;
    for (std::size_t at = signatureBytes; readChunk(in, bytes, at, chunk); at = chunk.next()) {
        if ((at == signatureBytes) != (chunk.type == "IHDR")) return damaged("its PNG header is not the first chunk");
        if (!chunk.ancillary() && !checksumHolds(in, bytes, chunk))
            return damaged("wrong checksum in PNG chunk " + std::string(chunk.type));
        if (chunk.type == "IHDR") {
            if (auto status = readIhdr(in, chunk.body(), header, rawBytes); !status) return status.error();
        } else if (chunk.type == "IDAT") {
            packedBytes += chunk.length;
        } else if (chunk.type == "acTL") {
            animated = std::min<std::uint32_t>(in.u32(chunk.body()), 1'000'000);
        } else if (chunk.type == "fcTL") {
            stillIsFrame |= packedBytes == 0;
        } else if (chunk.type == "eXIf") {
            header.orientation = exifOrientation(in.part(chunk.body(), chunk.length));
        } else if (chunk.type == "IEND") {
            if (packedBytes * maxDeflateRatio < rawBytes)
                return damaged("its PNG header says " + std::to_string(header.width) + " x " +
                               std::to_string(header.height) + " pixels, far more than its data can hold");
            if (animated > 0) header.frames = int(animated) + (stillIsFrame ? 0 : 1);
            return header;
        }
    }
    return cutShort("the PNG data has no end chunk");
}

std::string plainPng(Bytes bytes)
{
    const ByteReader in(bytes, ByteReader::Order::Big);
    std::string plain(reinterpret_cast<const char *>(bytes.data()), signatureBytes);
    Chunk chunk;
    for (std::size_t at = signatureBytes; readChunk(in, bytes, at, chunk); at = chunk.next()) {
        if (!chunk.ancillary() || chunk.type == "tRNS")
            plain.append(reinterpret_cast<const char *>(bytes.data()) + at, chunk.next() - at);
        if (chunk.type == "IEND") break;
    }
    return plain;
}

} // namespace parallax::data
