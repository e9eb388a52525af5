// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/bytestream.h"

namespace parallax::data {

/// One entry of a tar archive.
struct TarMember {
    std::string name;         ///< as stored: any bytes, perhaps absolute or with ".."
    char type = '0';          ///< as stored: '0' a file, '1' and '2' links, '5' a folder …
    std::uint64_t size = 0;   ///< of its content
    std::uint64_t offset = 0; ///< of its content in the archive (unpacked, where it is packed)

    bool isFile() const { return type == '0' || type == '\0' || type == '7'; }
    /// What is behind the last slash.
    std::string baseName() const { return name.substr(name.rfind('/') + 1); } // npos + 1 is 0
};

/// Walks over a tar archive (ustar, pax and GNU long names; plain or gzip) once, from front to back. Nothing is written
/// anywhere: a member's name is only a name. Errors have no `where`.
class TarReader
{
public:
    /// The stream stands at its beginning and outlives the reader.
    explicit TarReader(ByteStream &stream) : m_stream(stream) { }

    /// The next member; nothing behind the last. Errors: no tar header where one should be, a size that the file does not
    /// hold, an archive that ends without its end mark.
    Result<std::optional<TarMember>> next();
    /// The content of the member that next() gave, at most `limit` bytes of it: an Error when it is longer, or cut short.
    Result<std::string> content(std::size_t limit);
    /// A tar header has been found, whatever came later.
    bool recognised() const { return m_recognised; }

private:
    Result<std::string> take(std::uint64_t size, const std::string &what);
    Result<std::optional<TarMember>> header();
    Status passOver();
    Error cut(const std::string &inside) const;

    ByteStream &m_stream;
    std::uint64_t m_at = 0;   ///< place in the unpacked archive
    std::uint64_t m_left = 0; ///< of the current member's content and its padding
    bool m_recognised = false;
    TarMember m_member;
};

} // namespace parallax::data
