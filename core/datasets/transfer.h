// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/datasets/download.h"

namespace parallax::datasets {

/// How one attempt to load a file went.
struct Transfer {
    enum class End {
        Whole,
        Broken,   ///< worth another attempt
        Hopeless, ///< another attempt would end the same
        Cancelled
    };
    End end = End::Broken;
    bool fromStart = false;                  ///< the server sent the file from its first byte: what was there is gone
    Error error;                             ///< when Broken or Hopeless
    std::chrono::milliseconds retryAfter{0}; ///< what the server asked for
};

/// Asks once for what `fd` still lacks and appends it. Sizes that cannot be right are refused before anything is overwritten.
Transfer fetch(const Download &request, int fd, const Hooks &hooks);

} // namespace parallax::datasets
