// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/engine/data/pathlist.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace parallax::data {

/// The image files below a folder, found by name: any case of the extension, and files without one whose first bytes are an
/// image's. Hidden files and what desktops, cameras and notebooks leave are passed over.
struct FolderScan {
    PathList files;                                 ///< relative paths, sorted by bytes: the same order on every machine
    std::map<std::string, std::int64_t> passedOver; ///< how many of each kind: ".txt", "hidden", "system folder" …
    std::size_t foldersRead = 0, foldersKept = 0;   ///< listed anew; taken from the index
    std::int64_t skipped() const;
    /// "passed over 5 files that are not images: 2 .txt, …"; empty: nothing was.
    std::string remark() const;
};

struct ScanOptions {
    std::filesystem::path indexes = paths::cache() / "index"; ///< where the index of each folder lies
    std::size_t indexFrom = 5'000;                            ///< as many files and folders make an index worth its while
    int threads = 0; ///< 0: twice the cores, at least 4: disks and networks answer several at once
};

/// Folders are entered once, also through links, so loops of links end. A subfolder that may not be read is counted under
/// "folder without permission". Errors: the folder itself is missing, not a folder, or may not be read.
///
/// A large folder's listing is kept in an index. The next scan asks every folder for its time only, and lists again those whose
/// time, device or inode changed (files came, went or were renamed there), those that changed less than two seconds before the
/// scan that saw them, those with broken links or without permission, and those with a file without extension whose size or
/// time changed (its content decides whether it is an image). Any other change inside a file changes no listing. An index that
/// is missing, damaged, of another version or of another folder is made anew.
Result<FolderScan> scanFolder(const std::filesystem::path &root, const ScanOptions &options = {});

} // namespace parallax::data
