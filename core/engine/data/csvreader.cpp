// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/csvreader.h"

#include <algorithm>

namespace parallax::data {

CsvReader::CsvReader(std::string_view text) : m_in(text)
{
    if (m_in.starts_with("\xEF\xBB\xBF")) m_in.remove_prefix(3);
}

Error CsvReader::wrong(const std::string &what) const
{
    return {"line " + std::to_string(m_recordLine) + " " + what, {}, "Quote fields as RFC 4180 says."};
}

/// Up to the comma or the line end behind it, which is left.
Result<std::string> CsvReader::field()
{
    std::string text;
    if (!m_in.starts_with('"')) {
        const std::size_t end = std::min(m_in.find_first_of(",\n"), m_in.size());
        text = m_in.substr(0, end);
        m_in.remove_prefix(end);
        if ((m_in.empty() || m_in[0] == '\n') && text.ends_with('\r')) text.pop_back();
        if (text.find('"') != std::string::npos) return wrong("has a quote inside of a field that is not quoted");
        return text;
    }
    m_in.remove_prefix(1);
    while (true) {
        const std::size_t quote = m_in.find('"');
        if (quote == std::string_view::npos) return wrong("opens a quote that nothing closes");
        const std::string_view part = m_in.substr(0, quote);
        m_line += std::size_t(std::ranges::count(part, '\n'));
        text += part;
        m_in.remove_prefix(quote + 1);
        if (!m_in.starts_with('"')) break;
        text += '"';
        m_in.remove_prefix(1);
    }
    if (m_in.starts_with("\r\n") || m_in == "\r") m_in.remove_prefix(1);
    if (!m_in.empty() && m_in[0] != ',' && m_in[0] != '\n') return wrong("goes on behind a closing quote");
    return text;
}

Result<std::optional<std::vector<std::string>>> CsvReader::next()
{
    while (m_in.starts_with('\n') || m_in.starts_with("\r\n")) {
        m_in.remove_prefix(m_in[0] == '\n' ? 1 : 2);
        ++m_line;
    }
    if (m_in.empty()) return std::optional<std::vector<std::string>>();
    m_recordLine = m_line;
    std::vector<std::string> fields;
    while (true) {
        auto text = field();
        if (!text) return text.error();
        fields.push_back(std::move(*text));
        const bool more = m_in.starts_with(',');
        if (!m_in.empty()) m_in.remove_prefix(1);
        if (!more) break;
    }
    ++m_line;
    return std::optional(std::move(fields));
}

} // namespace parallax::data
