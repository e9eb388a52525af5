// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/formats.h"

#include <set>

namespace parallax::data::formats {

namespace {

/// One 12-byte entry of a directory; values are read as unsigned integers (types BYTE, SHORT, LONG).
struct Entry {
    std::uint16_t tag = 0, type = 0;
    std::uint32_t count = 0;
    std::size_t values = 0; ///< where they lie

    std::size_t width() const { return type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0; }
    std::uint32_t value(const ByteReader &in, std::size_t i = 0) const
    {
        const std::size_t at = values + i * width();
        return width() == 1 ? in.u8(at) : width() == 2 ? in.u16(at) : width() == 4 ? in.u32(at) : 0;
    }
};

Entry readEntry(const ByteReader &in, std::size_t at)
{
    Entry entry{in.u16(at), in.u16(at + 2), in.u32(at + 4)};
    entry.values = std::uint64_t(entry.count) * entry.width() <= 4 ? at + 8 : in.u32(at + 8);
    return entry;
}

/// Pages: the length of the chain of directories. A chain that bites its tail ends there.
int countPages(const ByteReader &in, std::size_t directory)
{
    std::set<std::size_t> seen;
    while (directory != 0 && in.has(directory, 2) && seen.size() < 100'000 && seen.insert(directory).second)
        directory = in.u32(directory + 2 + 12 * std::size_t(in.u16(directory)));
    return int(seen.size());
}

/// Every strip or tile must lie inside the file.
Status checkData(const ByteReader &in, const Entry &offsets, const Entry &lengths)
{
    if (offsets.count != lengths.count || !offsets.width() || !in.has(offsets.values, offsets.count * offsets.width()) ||
        !lengths.width() || !in.has(lengths.values, lengths.count * lengths.width()))
        return damaged("its TIFF directory does not say where the pixels are");
    for (std::uint32_t i = 0; i < offsets.count; ++i)
        if (!in.has(offsets.value(in, i), lengths.value(in, i)))
            return cutShort("part " + std::to_string(i + 1) + " of " + std::to_string(offsets.count) +
                            " of the TIFF data is missing");
    return {};
}

} // namespace

Result<ImageHeader> readTiff(Bytes bytes)
{
    const ByteReader in(bytes, *tiffByteOrder(bytes));
    const std::size_t directory = in.u32(4);
    const std::size_t entries = in.u16(directory);
    if (entries == 0 || !in.has(directory, 2 + 12 * entries)) return cutShort("the TIFF directory is missing");
    ImageHeader header;
    header.format = Format::Tiff;
    header.channels = 1; // the default of the standard
    Entry offsets, lengths;
    std::uint32_t bits = 1, sampleFormat = 1; // 1: unsigned integers
    for (std::size_t i = 0; i < entries; ++i) {
        const Entry entry = readEntry(in, directory + 2 + 12 * i);
        switch (entry.tag) {
        case 256: header.width = entry.value(in); break;
        case 257: header.height = entry.value(in); break;
        case 258: bits = entry.value(in); break;
        case 262: header.cmyk = entry.value(in) == 5; break;
        case 277: header.channels = int(entry.value(in)); break;
        case 273:
        case 324: offsets = entry; break;
        case 279:
        case 325: lengths = entry; break;
        case 339: sampleFormat = entry.value(in); break;
        default: break;
        }
    }
    if (auto status = checkSize("TIFF", header.width, header.height); !status) return status.error();
    if (sampleFormat != 1 || bits > 16)
        return Error{"its TIFF samples are not unsigned integers of up to 16 bits, which Parallax does not read", {}, {}};
    if (auto status = checkData(in, offsets, lengths); !status) return status.error();
    header.frames = countPages(in, directory);
    return header;
}

} // namespace parallax::data::formats
