// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/bytereader.h"
#include "core/engine/data/bytestore.h"

#include <optional>
#include <vector>

struct z_stream_s;

namespace parallax::data {

/// The bytes of a file from its beginning, unpacked when it is gzip (by content). Never more than is asked for is unpacked,
/// and only a piece of the file is in memory.
class ByteStream
{
public:
    static Result<ByteStream> open(const std::filesystem::path &path);
    ByteStream(ByteStream &&) noexcept;
    ByteStream &operator=(ByteStream &&) = delete;
    ~ByteStream();

    bool gzip() const { return m_zlib != nullptr; }
    const std::shared_ptr<const OpenFile> &file() const { return m_file; }
    /// The beginning of the file as stored.
    Bytes head() const { return m_head; }
    /// The most bytes that can still come.
    std::uint64_t bound() const;

    /// Fills `out`; returns how many bytes there were. Fewer than asked for: the end, or trouble().
    std::size_t read(std::uint8_t *out, std::size_t count);
    /// Passes over bytes; returns how many there were.
    std::uint64_t skip(std::uint64_t count);
    /// Bytes that a plain file has beyond what was read; for gzip 1 when more would come.
    std::uint64_t left();
    /// What is wrong: "is a damaged gzip file", "cannot be read: Input/output error".
    const std::optional<std::string> &trouble() const { return m_trouble; }
    /// The gzip data has come to its end with a right checksum; always true for a plain file.
    bool ended() const { return !m_zlib || m_ended; }

private:
    explicit ByteStream(std::shared_ptr<const OpenFile> file);
    bool fill();
    std::size_t unpack(std::uint8_t *out, std::size_t count);
    void endMember();

    struct InflateEnd {
        void operator()(z_stream_s *stream) const;
    };
    std::shared_ptr<const OpenFile> m_file;
    std::vector<std::uint8_t> m_head, m_buffer;
    std::unique_ptr<z_stream_s, InflateEnd> m_zlib;
    std::uint64_t m_at = 0; ///< place in the file: of the next byte (plain), of the next piece (gzip)
    bool m_ended = false;
    std::optional<std::string> m_trouble;
};

} // namespace parallax::data
