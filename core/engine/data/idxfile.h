// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace parallax::data {

/// An array of bytes in the IDX format of LeCun's MNIST page: 0, 0, type, rank, then big-endian sizes, then the values.
struct IdxFile {
    std::vector<std::int64_t> dims;
    std::string values; ///< bytes
};

/// Reads a plain or gzipped file (by content) of the given rank. The header is checked against the size of the file before
/// anything is allocated, and unpacking stops where the header says the data ends. Errors name the file and what is wrong:
/// not IDX, another type or rank, too little or too much data, a cut or damaged gzip stream.
Result<IdxFile> readIdx(const std::filesystem::path &file, int rank);

} // namespace parallax::data
