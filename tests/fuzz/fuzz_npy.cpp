// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"
#include "tests/fuzz/memoryfile.h"

/// The array is opened as images, and its first and last image is made.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const MemoryFile file(data, size);
    const auto source = parallax::data::openNpy(file.path());
    if (!source) return 0;
    const auto &images = *source->train;
    for (const std::int64_t index : {std::int64_t(0), images.size() - 1})
        if (const auto image = images.inspect(index); image && image->rgb.type() != CV_8UC3) std::abort();
    return 0;
}
