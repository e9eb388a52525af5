// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/bytestore.h"

#include <vector>

namespace parallax::data {

/// What a NumPy file says of its array (numpy.lib.format, versions 1 to 3).
struct NpyFile {
    std::shared_ptr<const OpenFile> file;
    char kind = 'u'; ///< u whole numbers from 0, i whole numbers, f floating point, b truth values
    int width = 1;   ///< bytes of a number
    bool bigEndian = false;
    std::vector<std::uint64_t> shape;
    std::uint64_t first = 0; ///< place of the numbers in the file
};

/// Opens an array and checks its header against the size of the file; nothing of its numbers is read. Errors: not NumPy's
/// format, Python objects (which would be unpickled), records, Fortran order, fewer or more bytes than the header says.
Result<NpyFile> openNpyFile(const std::filesystem::path &path);

/// "40 x 12 x 12".
std::string shapeText(const std::vector<std::uint64_t> &shape);

} // namespace parallax::data
