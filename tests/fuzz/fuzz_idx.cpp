// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/idxfile.h"
#include "tests/fuzz/memoryfile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const MemoryFile file(data, size);
    for (const int rank : {1, 3}) {
        const auto idx = parallax::data::readIdx(file.path(), rank);
        if (!idx) continue;
        std::uint64_t count = 1;
        for (const auto dim : idx->dims) count *= std::uint64_t(dim);
        if (count != idx->values.size()) std::abort();
    }
    return 0;
}
