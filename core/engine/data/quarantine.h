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

/// Files of a folder that the data check could not read. Runs do not try them again, and put the next readable image in the
/// place of each, as they do for any that turns out to be unreadable: what a run computes does not depend on the list.
/// A file whose size or time has changed since is tried again, and so are all by another build of the program, which may read
/// more.
class Quarantine
{
public:
    /// `part`: what of the folder it is about ("train/"); each part has a list of its own.
    Quarantine(const std::filesystem::path &lists, const std::filesystem::path &root, const std::string &part);

    struct Entry {
        std::string path, reason; ///< path: relative to the root
    };
    /// Replaces the list; without entries there is none. Names that are not UTF-8 cannot be listed and are tried every time.
    Status write(const std::vector<Entry> &entries) const;
    /// What still holds: reasons by path. A list that is missing, damaged or of another folder holds nothing.
    std::map<std::string, std::string> read() const;
    const std::filesystem::path &file() const { return m_file; }

private:
    std::filesystem::path m_root, m_file;
    std::string m_key;
};

} // namespace parallax::data
