// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/bytestream.h"

#include <zlib.h>

#include <algorithm>

namespace parallax::data {

namespace {

constexpr std::uint64_t maxDeflateRatio = 1'032;
constexpr std::size_t piece = std::size_t(1) << 17, headSize = 1'024;

} // namespace

void ByteStream::InflateEnd::operator()(z_stream_s *stream) const
{
    inflateEnd(stream);
    delete stream;
}

ByteStream::ByteStream(std::shared_ptr<const OpenFile> file) : m_file(std::move(file)) { }
ByteStream::ByteStream(ByteStream &&) noexcept = default;
ByteStream::~ByteStream() = default;

Result<ByteStream> ByteStream::open(const std::filesystem::path &path)
{
    auto file = OpenFile::open(path);
    if (!file) return file.error();
    ByteStream stream(std::move(*file));
    stream.m_head.resize(std::size_t(std::min<std::uint64_t>(headSize, stream.m_file->size())));
    const auto got = stream.m_file->readAt(0, stream.m_head.data(), stream.m_head.size());
    if (!got) return Error{got.error().what, path.string(), got.error().hint};
    stream.m_head.resize(*got);
    if (stream.m_head.size() < 2 || stream.m_head[0] != 0x1F || stream.m_head[1] != 0x8B) return stream;
    stream.m_zlib = std::unique_ptr<z_stream_s, InflateEnd>(new z_stream());
    inflateInit2(stream.m_zlib.get(), 15 + 16); // 16: with gzip's header and checksum
    stream.m_buffer.resize(piece);
    return stream;
}

std::uint64_t ByteStream::bound() const
{
    if (m_zlib) return m_file->size() * maxDeflateRatio;
    return m_file->size() - std::min(m_at, m_file->size());
}

std::size_t ByteStream::read(std::uint8_t *out, std::size_t count)
{
    if (m_zlib) return unpack(out, count);
    const auto got = m_file->readAt(m_at, out, std::size_t(std::min<std::uint64_t>(count, bound())));
    if (!got) m_trouble = got.error().what;
    const std::size_t n = got ? *got : 0;
    m_at += n;
    return n;
}

std::uint64_t ByteStream::skip(std::uint64_t count)
{
    if (!m_zlib) {
        const std::uint64_t n = std::min(count, bound());
        m_at += n;
        return n;
    }
    std::vector<std::uint8_t> waste(std::size_t(std::min<std::uint64_t>(count, piece)));
    std::uint64_t done = 0;
    while (done < count) {
        const std::size_t n = unpack(waste.data(), std::size_t(std::min<std::uint64_t>(waste.size(), count - done)));
        if (n == 0) break;
        done += n;
    }
    return done;
}

std::uint64_t ByteStream::left()
{
    std::uint8_t extra = 0;
    return m_zlib ? unpack(&extra, 1) : bound();
}

/// Makes input ready; false: there is none left.
bool ByteStream::fill()
{
    if (m_zlib->avail_in > 0) return true;
    const auto got = m_file->readAt(m_at, m_buffer.data(), m_buffer.size());
    if (!got) m_trouble = got.error().what;
    const std::size_t n = got ? *got : 0;
    m_at += n;
    m_zlib->next_in = m_buffer.data();
    m_zlib->avail_in = uInt(n);
    return n > 0;
}

/// A gzip file may hold several streams one after another; anything else behind the last is ignored, as gzip does.
void ByteStream::endMember()
{
    if (fill() && m_zlib->next_in[0] == 0x1F)
        inflateReset(m_zlib.get());
    else
        m_ended = true;
}

std::size_t ByteStream::unpack(std::uint8_t *out, std::size_t count)
{
    constexpr std::size_t most = std::size_t(1) << 30; // zlib counts in 32 bits
    std::size_t done = 0;
    while (done < count && !m_ended && !m_trouble) {
        const bool input = fill(); // without more input, what is pending still comes
        m_zlib->next_out = out + done;
        m_zlib->avail_out = uInt(std::min(most, count - done));
        const uInt before = m_zlib->avail_out;
        const int code = inflate(m_zlib.get(), Z_NO_FLUSH);
        done += before - m_zlib->avail_out;
        if (code == Z_STREAM_END)
            endMember();
        else if (code == Z_BUF_ERROR && !input)
            break;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            m_trouble = "is a damaged gzip file";
    }
    return done;
}

} // namespace parallax::data
