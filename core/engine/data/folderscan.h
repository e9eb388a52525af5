// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace parallax::data {

/// The image files below a folder, found by name: any case of the extension, and files without one whose first bytes are an
/// image's. Hidden files and what desktops, cameras and notebooks leave are passed over.
struct FolderScan {
    std::vector<std::string> files;                 ///< relative paths, sorted by bytes: the same order on every machine
    std::map<std::string, std::int64_t> passedOver; ///< how many of each kind: ".txt", "hidden", "system folder" …
    std::int64_t skipped() const;
    /// "passed over 5 files that are not images: 2 .txt, …"; empty: nothing was.
    std::string remark() const;
};

/// Folders are entered once, also through links, so loops of links end. A subfolder that may not be read is counted under
/// "folder without permission". Errors: the folder itself is missing, not a folder, or may not be read.
Result<FolderScan> scanFolder(const std::filesystem::path &root);

} // namespace parallax::data
