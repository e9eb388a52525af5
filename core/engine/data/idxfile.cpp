// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/idxfile.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/engine/data/bytereader.h"
#include "core/engine/data/formats.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace parallax::data {

namespace {

constexpr std::size_t fileLimit = std::size_t(16) << 30;
constexpr std::uint64_t maxDeflateRatio = 1'032;

/// The bytes of a file, unpacked when it is gzip: first the header, later the rest, never more than asked for.
class Stream
{
public:
    explicit Stream(const std::string &file) : m_file(file)
    {
        m_gzip = file.size() >= 2 && file[0] == '\x1F' && file[1] == '\x8B';
        if (!m_gzip) return;
        m_zlib = std::make_unique<z_stream>();
        inflateInit2(m_zlib.get(), 15 + 16); // 16: with gzip's header and checksum
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream()
    {
        if (m_zlib) inflateEnd(m_zlib.get());
    }

    bool gzip() const { return m_gzip; }
    /// The most bytes that can still come.
    std::uint64_t bound() const { return m_gzip ? std::uint64_t(m_file.size()) * maxDeflateRatio : m_file.size() - m_at; }

    /// Fills `out`; returns how many bytes there were.
    std::size_t read(std::uint8_t *out, std::size_t count)
    {
        if (m_gzip) return unpack(out, count);
        const std::size_t n = std::min(count, m_file.size() - m_at);
        std::memcpy(out, m_file.data() + m_at, n);
        m_at += n;
        return n;
    }
    /// Bytes that a plain file has beyond what was read; for gzip 1 when more would come.
    std::uint64_t left()
    {
        std::uint8_t extra = 0;
        return m_gzip ? unpack(&extra, 1) : m_file.size() - m_at;
    }
    bool damaged() const { return m_damaged; }
    bool ended() const { return !m_gzip || m_ended; }

private:
    std::size_t unpack(std::uint8_t *out, std::size_t count)
    {
        constexpr std::size_t piece = std::size_t(1) << 30; // zlib counts in 32 bits
        std::size_t done = 0;
        while (done < count && !m_ended && !m_damaged) {
            m_zlib->next_in = reinterpret_cast<Bytef *>(const_cast<char *>(m_file.data() + m_at));
            m_zlib->avail_in = uInt(std::min(piece, m_file.size() - m_at));
            m_zlib->next_out = out + done;
            m_zlib->avail_out = uInt(std::min(piece, count - done));
            const uInt before = m_zlib->avail_out, input = m_zlib->avail_in;
            const int code = inflate(m_zlib.get(), Z_NO_FLUSH);
            m_at += input - m_zlib->avail_in;
            done += before - m_zlib->avail_out;
            m_ended = code == Z_STREAM_END;
            if (code == Z_BUF_ERROR) break; // no input is left
            m_damaged = code != Z_OK && code != Z_STREAM_END;
        }
        return done;
    }

    const std::string &m_file;
    std::unique_ptr<z_stream> m_zlib;
    std::size_t m_at = 0;
    bool m_gzip = false, m_ended = false, m_damaged = false;
};

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
std::optional<std::string> checkMagic(const std::uint8_t *head, std::size_t count, bool gzip, int rank,
                                      const std::string &file)
{
    if (count < 4 || head[0] != 0 || head[1] != 0) {
        const auto *bytes = reinterpret_cast<const std::uint8_t *>(file.data());
        return "is not an IDX file, " +
            std::string(gzip ? "packed or not" : "but " + formats::describeForeign({bytes, file.size()}));
    }
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
    const auto file = readFile(path, fileLimit);
    if (!file) return file.error();
    Stream stream(*file);

    std::uint8_t head[16] = {};
    const std::size_t headBytes = 4 + 4 * std::size_t(rank), got = stream.read(head, headBytes);
    if (stream.damaged()) return wrong("is a damaged gzip file");
    if (const auto problem = checkMagic(head, got, stream.gzip(), rank, *file)) return wrong(*problem);
    if (got < headBytes) return wrong("is cut short: it ends inside its IDX header");
    IdxFile idx;
    const ByteReader in({head, headBytes}, ByteReader::Order::Big);
    for (int i = 0; i < rank; ++i) idx.dims.push_back(in.u32(4 + 4 * std::size_t(i)));
    const std::string claim = "its header says " + sizeText(idx.dims);
    const auto count = valueCount(idx.dims);
    if (!count) return wrong("is damaged: " + claim + ", a size that is zero or too large");
    const std::uint64_t one = *count / std::uint64_t(idx.dims[0]);
    if (*count > stream.bound())
        return wrong("is cut short: " + claim + ", but the file holds " + (stream.gzip() ? "at most " : "") +
                     std::to_string(stream.bound() / one) + (rank == 1 ? " labels" : " images"));
    idx.values.resize(*count);
    const std::size_t read = stream.read(idx.values.data(), idx.values.size());
    if (stream.damaged()) return wrong("is a damaged gzip file");
    if (read < *count)
        return wrong("is cut short: its gzip data ends after " + std::to_string(read / one) + " of " +
                     std::to_string(idx.dims[0]) + (rank == 1 ? " labels" : " images"));
    if (const auto left = stream.left())
        return wrong("is damaged: " + claim + ", but " +
                     (stream.gzip() ? "more data" : std::to_string(left) + " bytes more") + " follow");
    if (stream.damaged() || !stream.ended()) return wrong("is cut short: its gzip data ends without a checksum");
    return idx;
}

} // namespace parallax::data
