// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace parallax::data {

/// One image in a tar file.
struct ShardSample {
    std::string member;       ///< its name in the archive
    std::uint64_t offset = 0; ///< of its bytes in the file
    std::uint64_t size = 0;
    std::string label; ///< as a word; empty: none
};

/// The images of one tar file in webdataset's form: members of one key (their name up to the first dot of its last part)
/// belong together: an image, and a label in key.cls (a number or name), else in key.json (under "cls", "label" or "class"),
/// else in key.txt where that is a whole number (other text is a caption).
struct ShardIndex {
    std::vector<ShardSample> samples;
    std::map<std::string, std::int64_t> passedOver; ///< members that are neither: ".mp3", "link" …, "image beside the first"
    std::string problem;                            ///< why the archive could not be read to its end; empty: it was
    std::uint64_t size = 0;                         ///< of the file, and its last change: whether it still is what it was
    std::int64_t changed = 0;
};

/// Reads the headers of a tar file once. An archive that is cut or damaged gives what is before that, and says so. Nothing is
/// unpacked: a member's name is only a name.
ShardIndex indexShard(const std::filesystem::path &file);

/// Names from a pattern: "a-{000..012}.tar" (numbers, with leading zeros), "{train,val}-0.tar"; each once, in order. Errors:
/// braces that do not fit, more than a million names.
Result<std::vector<std::string>> expandBraces(const std::string &pattern);

} // namespace parallax::data
