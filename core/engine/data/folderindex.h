// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/data/pathlist.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace parallax::data {

/// A file without extension: its content has decided what it is, so it is asked again when it changes.
struct UnnamedFile {
    std::string name;
    std::uint64_t size = 0;
    std::int64_t time = 0; ///< of its last change, ns
    bool image = false;
};

/// One folder of a scan.
struct FolderRecord {
    std::string path; ///< relative; empty: the root
    std::uint64_t device = 0, inode = 0;
    std::int64_t time = 0;                   ///< of its last change, ns; 0: not to be relied on
    std::vector<std::string> folders, links; ///< names of its subfolders, and of links to folders
    std::vector<UnnamedFile> unnamed;
    std::map<std::string, std::int64_t> passedOver;
    // While a scan goes on:
    bool kept = false; ///< taken from the index, whose `files` has its images
    std::string files; ///< names of its images, each followed by a zero byte; empty when kept
};

/// All that is known of a folder of images after a scan.
struct FolderIndex {
    std::vector<FolderRecord> folders;
    PathList files;
};

/// Where the index of `root` lies.
std::filesystem::path indexFile(const std::filesystem::path &indexes, const std::filesystem::path &root);

/// Nothing where there is none, where it is damaged, of another version, or of another folder whose name has the same hash.
std::optional<FolderIndex> readIndex(const std::filesystem::path &indexes, const std::filesystem::path &root);

/// Written whole or not at all. Of the indexes there, the 64 newest stay.
Status writeIndex(const std::filesystem::path &indexes, const std::filesystem::path &root, const FolderIndex &index);

} // namespace parallax::data
