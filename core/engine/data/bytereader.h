// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace parallax::data {

using Bytes = std::span<const std::uint8_t>;

/// Reads numbers at any place of a file's bytes. A place outside of it reads as 0, so a hostile offset is harmless; whoever
/// must tell the difference asks has() first.
class ByteReader
{
public:
    enum class Order { Little, Big };
    ByteReader(Bytes bytes, Order order) : m_bytes(bytes), m_big(order == Order::Big) { }

    std::size_t size() const { return m_bytes.size(); }
    bool has(std::size_t at, std::size_t count) const { return at <= m_bytes.size() && count <= m_bytes.size() - at; }
    std::uint8_t u8(std::size_t at) const { return has(at, 1) ? m_bytes[at] : 0; }
    std::uint16_t u16(std::size_t at) const { return std::uint16_t(number(at, 2)); }
    std::uint32_t u24(std::size_t at) const { return std::uint32_t(number(at, 3)); }
    std::uint32_t u32(std::size_t at) const { return std::uint32_t(number(at, 4)); }
    bool startsWith(std::string_view text, std::size_t at = 0) const
    {
        return has(at, text.size()) && std::memcmp(m_bytes.data() + at, text.data(), text.size()) == 0;
    }
    Bytes part(std::size_t at, std::size_t count) const { return has(at, count) ? m_bytes.subspan(at, count) : Bytes(); }

private:
    std::uint64_t number(std::size_t at, std::size_t count) const
    {
        if (!has(at, count)) return 0;
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < count; ++i) value = value << 8 | m_bytes[at + (m_big ? i : count - 1 - i)];
        return value;
    }
    Bytes m_bytes;
    bool m_big;
};

/// The byte order that a TIFF header ("II*\0" or "MM\0*") announces; nothing when there is no such header.
inline std::optional<ByteReader::Order> tiffByteOrder(Bytes bytes)
{
    const ByteReader in(bytes, ByteReader::Order::Little);
    if (in.startsWith(std::string_view("II*\0", 4))) return ByteReader::Order::Little;
    if (in.startsWith(std::string_view("MM\0*", 4))) return ByteReader::Order::Big;
    return {};
}

} // namespace parallax::data
