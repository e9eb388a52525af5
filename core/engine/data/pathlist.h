// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parallax::data {

/// Many paths in one block of memory: their bytes, and eight more each. Made in ascending order of their bytes.
class PathList
{
public:
    std::size_t size() const { return m_ends.size(); }
    bool empty() const { return m_ends.empty(); }
    std::string_view operator[](std::size_t i) const
    {
        const std::uint64_t begin = i == 0 ? 0 : m_ends[i - 1];
        return std::string_view(m_bytes).substr(begin, m_ends[i] - begin);
    }
    /// All bytes in a row, and where each path ends in them.
    const std::string &bytes() const { return m_bytes; }
    const std::vector<std::uint64_t> &ends() const { return m_ends; }

    void reserve(std::size_t count, std::size_t bytes)
    {
        m_ends.reserve(count);
        m_bytes.reserve(bytes);
    }
    /// `path` comes after all that are there.
    void add(std::string_view path)
    {
        m_bytes += path;
        m_ends.push_back(m_bytes.size());
    }

    /// First place whose path is not below `path`: where it stands, if it is there.
    std::size_t lowerBound(std::string_view path) const
    {
        std::size_t low = 0, high = size();
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if ((*this)[middle] < path)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
    bool holds(std::size_t place, std::string_view path) const { return place < size() && (*this)[place] == path; }

private:
    std::string m_bytes;
    std::vector<std::uint64_t> m_ends;
};

} // namespace parallax::data
