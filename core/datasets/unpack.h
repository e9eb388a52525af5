// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/datasets/hooks.h"

#include <filesystem>

namespace parallax::datasets {

struct UnpackLimits {
    std::uint64_t bytes = 0; ///< of all files together
    std::uint64_t files = 1'000'000;
};

/// Unpacks a tar archive (plain, gzip, bzip2, xz or zstd) below `folder`, which is made and must not be there yet. Only files
/// and folders with plain relative names are taken; an archive that holds anything else (absolute names, "..", links, devices,
/// one name twice) or goes over the limits is refused as a whole, and so is one that is cut short or, as far as its
/// format tells, damaged: the folder is then left as far as it came, for the caller to remove. Owners, permissions and attributes of the archive play no part.
Status unpack(const std::filesystem::path &archive, const std::filesystem::path &folder, const UnpackLimits &limits,
              const Hooks &hooks);

} // namespace parallax::datasets
