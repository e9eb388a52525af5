// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

/// Just enough of NumPy's .npy format (version 1, little-endian "<f4", C order, two axes) for vectors kept as test data.
namespace parallax::testing {

struct Rows {
    std::int64_t count = 0, dim = 0;
    std::vector<float> values; ///< [count, dim]; empty: the file could not be read
    const float *data() const { return values.data(); }
    const float *row(std::int64_t i) const { return values.data() + i * dim; }
};

inline Rows readNpy(const std::string &path)
{
    std::ifstream stream(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY") != 0) return {};
    const std::size_t headerSize = std::uint8_t(bytes[8]) + 256U * std::uint8_t(bytes[9]);
    const std::string header = bytes.substr(10, headerSize);
    const auto shape = header.find("'shape': (");
    long count = 0, dim = 0;
    if (header.find("'<f4'") == std::string::npos || shape == std::string::npos ||
        std::sscanf(header.c_str() + shape, "'shape': (%ld, %ld)", &count, &dim) != 2)
        return {};
    Rows rows{count, dim, std::vector<float>(std::size_t(count * dim))};
    if (bytes.size() != 10 + headerSize + rows.values.size() * sizeof(float)) return {};
    std::memcpy(rows.values.data(), bytes.data() + 10 + headerSize, rows.values.size() * sizeof(float));
    return rows;
}

} // namespace parallax::testing
