// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/npyfile.h"

#include "core/base/text.h"
#include "core/engine/data/bytereader.h"
#include "core/engine/data/formats.h"

#include <algorithm>
#include <optional>

namespace parallax::data {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t longestHeader = 65'536;

/// The header: a Python dictionary of three known keys, as NumPy writes it.
class Header
{
public:
    explicit Header(std::string_view text) : m_in(text) { }

    std::string descr;
    bool fortran = false;
    std::vector<std::uint64_t> shape;

    /// What is wrong with it; empty: nothing.
    std::string read()
    {
        bool hasDescr = false, hasOrder = false, hasShape = false;
        if (!take("{")) return "no dictionary";
        while (!take("}")) {
            const auto key = word();
            if (!key || !take(":")) return "no dictionary";
            if (*key == "descr") {
                if (take("[")) return "records";
                const auto value = word();
                if (!value) return "no type";
                descr = *value, hasDescr = true;
            } else if (*key == "fortran_order") {
                fortran = take("True");
                if (!fortran && !take("False")) return "no order";
                hasOrder = true;
            } else if (*key == "shape") {
                if (!readShape()) return "no shape";
                hasShape = true;
            } else {
                return "an unknown key";
            }
            if (!take(",") && !startsWith("}")) return "no dictionary";
        }
        blank();
        return hasDescr && hasOrder && hasShape && m_in.empty() ? "" : "not all of type, order and shape";
    }

private:
    void blank() { m_in.remove_prefix(std::min(m_in.find_first_not_of(" \t\r\n"), m_in.size())); }
    bool startsWith(std::string_view text)
    {
        blank();
        return m_in.starts_with(text);
    }
    bool take(std::string_view text)
    {
        if (!startsWith(text)) return false;
        m_in.remove_prefix(text.size());
        return true;
    }
    std::optional<std::string> word()
    {
        blank();
        if (m_in.empty() || (m_in[0] != '\'' && m_in[0] != '"')) return {};
        const auto end = m_in.find(m_in[0], 1);
        if (end == std::string_view::npos) return {};
        std::string text(m_in.substr(1, end - 1));
        m_in.remove_prefix(end + 1);
        return text;
    }
    bool readShape()
    {
        if (!take("(")) return false;
        while (!take(")")) {
            blank();
            const std::size_t digits = std::min(m_in.find_first_not_of("0123456789"), m_in.size());
            const auto side = text::parseInt(m_in.substr(0, digits));
            if (!side) return false;
            shape.push_back(std::uint64_t(*side));
            m_in.remove_prefix(digits);
            if (!take(",") && !startsWith(")")) return false;
        }
        return true;
    }
    std::string_view m_in;
};

/// "|u1", "<f4": byte order, kind, width. Empty: understood; else what it is instead.
std::string readType(const std::string &descr, NpyFile &npy)
{
    std::string_view type = descr;
    if (type.size() > 1 && "<>|="sv.find(type[0]) != std::string_view::npos) {
        npy.bigEndian = type[0] == '>';
        type.remove_prefix(1);
    }
    if (type.starts_with('O')) return "Python objects, which would have to be unpickled: refused";
    const auto width = type.empty() ? std::nullopt : text::parseInt(type.substr(1));
    if (!width || "uifb"sv.find(type[0]) == std::string_view::npos ||
        (*width != 1 && *width != 2 && *width != 4 && *width != 8))
        return "values of type " + text::printable(descr) + ": whole and floating point numbers are read";
    npy.kind = type[0];
    npy.width = int(*width);
    return {};
}

} // namespace

std::string shapeText(const std::vector<std::uint64_t> &shape)
{
    std::vector<std::string> sides;
    sides.reserve(shape.size());
    for (const auto side : shape) sides.push_back(std::to_string(side));
    return text::join(sides, " x ");
}

Result<NpyFile> openNpyFile(const std::filesystem::path &path)
{
    const std::string again = "Save the array again, with numpy.save.";
    const auto wrong = [&](const std::string &what, const std::string &hint) {
        return Error{what, text::printable(path.string()), hint};
    };
    auto file = OpenFile::open(path);
    if (!file) return file.error();
    NpyFile npy;
    npy.file = std::move(*file);
    std::vector<std::uint8_t> head(std::size_t(std::min<std::uint64_t>(npy.file->size(), longestHeader)));
    const auto got = npy.file->readAt(0, head.data(), head.size());
    if (!got) return wrong(got.error().what, {});
    head.resize(*got);
    const ByteReader in(head, ByteReader::Order::Little);
    if (!in.startsWith("\x93NUMPY")) return wrong("is not a NumPy array, but " + formats::describeForeign(head), again);
    const int version = in.u8(6);
    if (version < 1 || version > 3) return wrong("has version " + std::to_string(version) + " of NumPy's format", again);
    const std::size_t start = version == 1 ? 10 : 12, length = version == 1 ? in.u16(8) : in.u32(8);
    if (!in.has(start, length)) return wrong("is cut short, or damaged: it ends inside its header", again);
    Header header({reinterpret_cast<const char *>(head.data()) + start, length});
    if (const auto problem = header.read(); problem == "records")
        return wrong("holds records: one array of numbers is read", again);
    else if (!problem.empty())
        return wrong("is damaged: its header holds " + problem, again);
    if (const auto other = readType(header.descr, npy); !other.empty()) return wrong("holds " + other, again);
    npy.shape = std::move(header.shape);
    npy.first = start + length;
    if (header.fortran && npy.shape.size() > 1)
        return wrong("is stored in Fortran order, which is not read", "Save numpy.ascontiguousarray(array).");

    std::uint64_t bytes = std::uint64_t(npy.width);
    for (const auto side : npy.shape)
        if (side == 0 || __builtin_mul_overflow(bytes, side, &bytes))
            return wrong("is empty or damaged: its header says " + shapeText(npy.shape), again);
    const std::uint64_t there = npy.file->size() - npy.first;
    if (bytes != there)
        return wrong(std::string(bytes > there ? "is cut short" : "is damaged") + ": its header says " +
                         shapeText(npy.shape) + ", which is " + std::to_string(bytes) + " bytes, but " +
                         std::to_string(there) + " follow",
                     again);
    return npy;
}

} // namespace parallax::data
