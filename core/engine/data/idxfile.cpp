// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/idxfile.h"

#include "core/base/text.h"
#include "core/engine/data/bytestream.h"
#include "core/engine/data/formats.h"

#include <algorithm>

namespace parallax::data {

namespace {

std::string typeName(int type)
{
    switch (type) {
    case 0x09: return "signed bytes";
    case 0x0B: return "16-bit integers";
    case 0x0C: return "32-bit integers";
    case 0x0D: return "32-bit floating point numbers";
    case 0x0E: return "64-bit floating point numbers";
    default: return "values of unknown type " + std::to_string(type);
    }
}

/// What is wrong with the first four bytes, if anything.
std::optional<std::string> checkMagic(const std::uint8_t *head, std::size_t count, int rank, const ByteStream &stream)
{
    if (count < 4 || head[0] != 0 || head[1] != 0)
        return "is not an IDX file, " +
            std::string(stream.gzip() ? "packed or not" : "but " + formats::describeForeign(stream.head()));
    if (head[2] != 0x08) return "holds " + typeName(head[2]) + ": only unsigned bytes are read";
    if (head[3] != rank)
        return "has " + std::to_string(head[3]) + " dimension" + (head[3] == 1 ? "" : "s") + ", not " +
            std::to_string(rank) + (head[3] == 1 || head[3] == 3 ? ": are the files of images and labels exchanged?" : "");
    return {};
}

std::string sizeText(const std::vector<std::int64_t> &dims)
{
    std::vector<std::string> parts;
    parts.reserve(dims.size());
    for (const auto dim : dims) parts.push_back(std::to_string(dim));
    return text::join(parts, " x ");
}

/// The number of values that the sizes announce; nothing when it is 0 or does not fit.
std::optional<std::uint64_t> valueCount(const std::vector<std::int64_t> &dims)
{
    std::uint64_t count = 1;
    for (const auto dim : dims)
        if (dim == 0 || __builtin_mul_overflow(count, std::uint64_t(dim), &count)) return {};
    if (dims.size() == 3 && (dims[1] > maxSide || dims[2] > maxSide)) return {};
    return count;
}

} // namespace

Result<IdxFile> readIdx(const std::filesystem::path &path, int rank)
{
    const std::string where = text::printable(path.string());
    const auto wrong = [&](const std::string &what) { return Error{what, where, "Load the file again."}; };
    auto stream = ByteStream::open(path);
    if (!stream) return stream.error();

    std::uint8_t head[16] = {};
    const std::size_t headBytes = 4 + 4 * std::size_t(rank), got = stream->read(head, headBytes);
    if (stream->trouble()) return wrong(*stream->trouble());
    if (const auto problem = checkMagic(head, got, rank, *stream)) return wrong(*problem);
    if (got < headBytes) return wrong("is cut short: it ends inside its IDX header");
    IdxFile idx;
    const ByteReader in({head, headBytes}, ByteReader::Order::Big);
    for (int i = 0; i < rank; ++i) idx.dims.push_back(in.u32(4 + 4 * std::size_t(i)));
    const std::string claim = "its header says " + sizeText(idx.dims);
    const auto count = valueCount(idx.dims);
    if (!count) return wrong("is damaged: " + claim + ", a size that is zero or too large");
    const std::uint64_t one = *count / std::uint64_t(idx.dims[0]);
    if (*count > stream->bound())
        return wrong("is cut short: " + claim + ", but the file holds " + (stream->gzip() ? "at most " : "") +
                     std::to_string(stream->bound() / one) + (rank == 1 ? " labels" : " images"));
    // Memory follows the data that comes: of packed data only that shows whether the header told the truth.
    constexpr std::uint64_t step = std::uint64_t(1) << 26;
    std::size_t read = 0;
    while (read == idx.values.size() && read < *count) {
        idx.values.resize(std::size_t(std::min<std::uint64_t>(*count, stream->gzip() ? read + step : *count)));
        read += stream->read(reinterpret_cast<std::uint8_t *>(idx.values.data()) + read, idx.values.size() - read);
    }
    if (stream->trouble()) return wrong(*stream->trouble());
    if (read < *count)
        return wrong("is cut short: its gzip data ends after " + std::to_string(read / one) + " of " +
                     std::to_string(idx.dims[0]) + (rank == 1 ? " labels" : " images"));
    if (const auto left = stream->left())
        return wrong("is damaged: " + claim + ", but " +
                     (stream->gzip() ? "more data" : std::to_string(left) + " bytes more") + " follow");
    if (stream->trouble() || !stream->ended()) return wrong("is cut short: its gzip data ends without a checksum");
    return idx;
}

} // namespace parallax::data
