// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/cifarpickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    (void)parallax::data::readCifarPickle({reinterpret_cast<const char *>(data), size});
    return 0;
}
