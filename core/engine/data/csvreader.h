// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parallax::data {

/// Comma-separated values after RFC 4180: fields in double quotes may hold commas, line ends and (doubled) quotes; lines end
/// with LF or CRLF. A byte order mark and empty lines are passed over.
class CsvReader
{
public:
    explicit CsvReader(std::string_view text);

    /// The fields of the next record; nothing behind the last. Errors (without `where`) name the line.
    Result<std::optional<std::vector<std::string>>> next();
    /// The line at which the record that next() gave begins, from 1.
    std::size_t line() const { return m_recordLine; }

private:
    Result<std::string> field();
    Error wrong(const std::string &what) const;

    std::string_view m_in;
    std::size_t m_line = 1, m_recordLine = 1;
};

} // namespace parallax::data
