// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/tarreader.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace parallax::data {

namespace {

constexpr std::size_t block = 512;
constexpr std::uint64_t longest = std::uint64_t(1) << 20; ///< of a long name or a pax header
using Block = std::array<std::uint8_t, block>;

std::uint64_t padded(std::uint64_t size) { return (size + block - 1) / block * block; }

/// A text field: up to its first NUL.
std::string field(const Block &header, std::size_t at, std::size_t count)
{
    const char *start = reinterpret_cast<const char *>(header.data() + at);
    return {start, ::strnlen(start, count)};
}

/// An octal number between blanks and NULs, or a binary one (GNU: the first bit set); nothing when it is neither, or larger
/// than any file.
std::optional<std::uint64_t> number(const Block &header, std::size_t at, std::size_t count)
{
    std::uint64_t value = 0;
    if (header[at] & 0x80) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint8_t byte = i == 0 ? header[at] & 0x7F : header[at + i];
            if (value >> 54) return {};
            value = value << 8 | byte;
        }
        return value;
    }
    const std::string digits = text::trimmed(field(header, at, count));
    for (const char c : digits) {
        if (c < '0' || c > '7' || value >> 59) return {};
        value = value * 8 + std::uint64_t(c - '0');
    }
    return value;
}

bool checksumHolds(const Block &header)
{
    constexpr std::size_t first = 148, count = 8;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block; ++i) sum += i >= first && i < first + count ? std::uint64_t(' ') : header[i];
    return number(header, first, count) == sum;
}

std::string nameIn(const Block &header)
{
    const std::string name = field(header, 0, 100), magic = field(header, 257, 5);
    const std::string prefix = magic == "ustar" && header[262] == 0 ? field(header, 345, 155) : std::string();
    return prefix.empty() ? name : prefix + '/' + name;
}

/// What pax headers say of the member that follows them.
struct Pax {
    std::optional<std::string> path;
    std::optional<std::uint64_t> size;
};

/// Records "<length> <key>=<value>\n"; false when they are not.
bool readPax(std::string_view records, Pax &pax)
{
    while (!records.empty()) {
        const auto blank = records.find(' ');
        if (blank == std::string_view::npos) return false;
        const auto length = text::parseInt(records.substr(0, blank));
        if (!length || *length <= std::int64_t(blank) + 1 || std::uint64_t(*length) > records.size()) return false;
        const std::string_view record = records.substr(blank + 1, std::size_t(*length) - blank - 1);
        const auto equals = record.find('=');
        if (equals == std::string_view::npos || record.back() != '\n') return false;
        const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1, record.size() - equals - 2);
        if (key == "path") pax.path = std::string(value.substr(0, value.find('\0')));
        if (key == "size") {
            const auto size = text::parseInt(value);
            if (!size || *size < 0) return false;
            pax.size = std::uint64_t(*size);
        }
        if (key.starts_with("GNU.sparse")) return false;
        records.remove_prefix(std::size_t(*length));
    }
    return true;
}

} // namespace

Error TarReader::cut(const std::string &inside) const
{
    if (m_stream.trouble()) return {*m_stream.trouble(), {}, "Load the file again."};
    return {std::string("is cut short: its ") + (m_stream.gzip() ? "gzip data ends " : "last byte is ") + inside,
            {},
            "Load the file again."};
}

Status TarReader::passOver()
{
    const std::uint64_t passed = m_stream.skip(m_left);
    m_at += passed;
    const bool whole = passed == m_left;
    m_left = 0;
    if (!whole) return cut("inside of " + text::printable(m_member.name));
    return {};
}

Result<std::string> TarReader::take(std::uint64_t size, const std::string &what)
{
    constexpr std::size_t step = std::size_t(1) << 20; // memory follows the data that comes, not what the header claims
    std::string bytes;
    while (bytes.size() < size) {
        const std::size_t had = bytes.size(), wanted = std::size_t(std::min<std::uint64_t>(step, size - had));
        bytes.resize(had + wanted);
        const std::size_t got = m_stream.read(reinterpret_cast<std::uint8_t *>(bytes.data()) + had, wanted);
        m_at += got;
        if (got < wanted) return cut("inside of " + what);
    }
    return bytes;
}

Result<std::string> TarReader::content(std::size_t limit)
{
    if (m_member.size > limit)
        return Error{text::printable(m_member.name) + " is too large: " + text::bytes(m_member.size) + ", at most " +
                         text::bytes(limit) + " are read",
                     {},
                     {}};
    auto bytes = take(m_member.size, text::printable(m_member.name));
    m_left -= bytes ? m_member.size : m_left;
    return bytes;
}

/// One header block as it is: what a long name or a pax header says of it is not applied.
Result<std::optional<TarMember>> TarReader::header()
{
    Block bytes{};
    const std::size_t got = m_stream.read(bytes.data(), block);
    if (got < block) {
        if (m_at == 0 && !m_stream.trouble()) return Error{"is not a tar archive", {}, {}};
        return cut("where a header or the end mark should be");
    }
    m_at += block;
    if (std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; })) return std::optional<TarMember>();
    const auto size = number(bytes, 124, 12);
    if (!checksumHolds(bytes) || !size) {
        if (m_at == block) return Error{"is not a tar archive", {}, {}};
        return Error{
            "is damaged: there is no tar header at byte " + std::to_string(m_at - block), {}, "Load the file again."};
    }
    m_recognised = true;
    return std::optional(TarMember{nameIn(bytes), char(bytes[156]), *size, m_at});
}

Result<std::optional<TarMember>> TarReader::next()
{
    if (auto status = passOver(); !status) return status.error();
    Pax pax;
    while (true) {
        auto found = header();
        if (!found || !*found) return found;
        m_member = std::move(**found);
        const bool about = m_member.type == 'x' || m_member.type == 'g' || m_member.type == 'L' || m_member.type == 'K';
        if (!about) break;
        if (m_member.size > longest) return Error{"is damaged: a name of " + text::bytes(m_member.size), {}, {}};
        const auto bytes = take(m_member.size, "a header");
        if (!bytes) return bytes.error();
        if (m_member.type == 'L') pax.path = bytes->substr(0, bytes->find('\0'));
        if (m_member.type == 'x' && !readPax(*bytes, pax))
            return Error{"has a pax header that is damaged or of a kind that is not read, at byte " +
                             std::to_string(m_member.offset),
                         {},
                         "Pack the files again, with GNU tar."};
        m_left = padded(m_member.size) - m_member.size;
        if (auto status = passOver(); !status) return status.error();
    }
    if (pax.path) m_member.name = *pax.path;
    if (pax.size) m_member.size = *pax.size;
    if (m_member.type == 'S') return Error{text::printable(m_member.name) + " is stored sparse, which is not read", {}, {}};
    m_member.offset = m_at;
    if (!m_member.isFile()) m_member.size = 0; // links, folders, devices have no content
    if (m_member.size > m_stream.bound()) {
        if (m_stream.gzip())
            return Error{"is damaged: " + text::printable(m_member.name) + " is said to hold " + text::bytes(m_member.size),
                         {},
                         "Load the file again."};
        return Error{"is cut short: " + text::printable(m_member.name) + " has " + std::to_string(m_member.size) +
                         " bytes, of which " + std::to_string(m_stream.bound()) + " are there",
                     {},
                     "Load the file again."};
    }
    m_left = padded(m_member.size);
    return std::optional(m_member);
}

} // namespace parallax::data
