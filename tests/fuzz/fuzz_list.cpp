// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/csvreader.h"
#include "core/engine/data/shardindex.h"
#include "core/engine/data/source.h"
#include "tests/fuzz/memoryfile.h"

/// Records, the list that they make, and the braces of a pattern.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size);
    parallax::data::CsvReader csv(text);
    std::size_t line = 0;
    for (auto record = csv.next(); record && *record; record = csv.next()) {
        if (csv.line() <= line || (*record)->empty()) std::abort();
        line = csv.line();
    }
    const MemoryFile file(data, size);
    (void)parallax::data::openList(file.path());
    if (size < 40) (void)parallax::data::expandBraces(text);
    return 0;
}
