// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/bytestore.h"

#include <map>
#include <vector>

namespace parallax::data {

/// Files of a published data set by their names without folders, from the folder that holds them or from the archive that
/// they are published in.
using NamedStores = std::map<std::string, std::shared_ptr<const ByteStore>>;

/// Those of `names` that the folder holds, open but not read.
Result<NamedStores> filesInFolder(const std::filesystem::path &folder, const std::vector<std::string> &names);

/// The members of a tar archive (plain or gzip) whose names are `wanted`, each at most `limit` bytes, in memory. Nothing is
/// unpacked to the disk. The archive is read to its end, so that a cut one is refused; so are members outside of its folder,
/// links and devices, which no published archive has.
Result<NamedStores> filesInArchive(const std::filesystem::path &archive, const std::vector<std::string> &wanted,
                                   std::size_t limit);

/// The names of an archive's files, as far as its first `most` members can be read: to tell what it is.
std::vector<std::string> namesInArchive(const std::filesystem::path &archive, int most);

/// The whole content.
Result<std::string> contentOf(const ByteStore &store, std::size_t limit);

/// The non-empty lines of a text file, trimmed.
std::vector<std::string> linesOf(std::string_view text);

} // namespace parallax::data
