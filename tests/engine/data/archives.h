// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <string>

/// Archives made on the spot, also such as no program would make.
namespace parallax::data::test {

inline std::string gzipped(const std::string &bytes)
{
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
    stream.avail_in = uInt(bytes.size());
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = uInt(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

/// A ustar header that says `size`, whatever follows.
inline std::string tarHeader(const std::string &name, std::size_t size, char type = '0')
{
    std::string header(512, '\0');
    header.replace(0, std::min<std::size_t>(name.size(), 100), name.substr(0, 100));
    header.replace(100, 8, std::string("0000644\0", 8));
    char digits[16];
    std::snprintf(digits, sizeof digits, "%011zo", size);
    header.replace(124, 11, digits);
    header.replace(136, 11, "00000000000");
    header.replace(148, 8, "        ");
    header[156] = type;
    header.replace(257, 8, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::snprintf(digits, sizeof digits, "%06o", sum);
    header.replace(148, 7, std::string(digits, 7));
    return header;
}

inline std::string tarMember(const std::string &name, const std::string &content, char type = '0')
{
    return tarHeader(name, content.size(), type) + content + std::string((512 - content.size() % 512) % 512, '\0');
}

inline std::string tarEnd() { return std::string(1'024, '\0'); }

} // namespace parallax::data::test
