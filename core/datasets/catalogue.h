// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/builtindata.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace parallax::datasets {

/// One file as its publisher offers it.
struct RemoteFile {
    std::string url, sha256;
    std::uint64_t size = 0; ///< bytes
    /// "cifar-10-binary.tar.gz"
    std::string name() const { return url.substr(url.rfind('/') + 1); }
};

/// What a whole copy holds.
struct Part {
    std::string path;       ///< below the data set's folder
    std::uint64_t size = 0; ///< bytes of a file; 0: a folder that is not empty
};

/// A data set that can be loaded from its publisher.
struct Published {
    config::BuiltInData id;
    std::string what;              ///< "60,000 colour images of 32x32 in 10 classes"
    std::vector<RemoteFile> files; ///< one archive to unpack, or the files of the folder as they are
    bool archive = true;
    std::uint64_t unpacked = 0; ///< bytes on disk, for the check of the free space
    std::vector<Part> layout;
    std::string licence, cite;

    std::uint64_t size() const; ///< bytes to load
};

/// Every data set of `parallax data get`.
const std::vector<Published> &published();
const Published *findPublished(const std::string &name);

/// The first part of the layout that `folder` lacks, with what is wrong ("train_X.bin has 12 bytes, not 138240000"); nothing:
/// it holds the data set whole.
std::optional<std::string> missingPart(const Published &set, const std::filesystem::path &folder);

} // namespace parallax::datasets
