// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/archivefiles.h"
#include "core/engine/data/shardindex.h"
#include "tests/fuzz/memoryfile.h"

/// As a shard whose images are read later, and as the archive of a published data set.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const MemoryFile file(data, size);
    for (const auto &sample : parallax::data::indexShard(file.path()).samples)
        if (sample.offset > size || sample.size > size - sample.offset) std::abort();
    (void)parallax::data::filesInArchive(file.path(), {"a.bin", "b.bin"}, 100'000);
    return 0;
}
