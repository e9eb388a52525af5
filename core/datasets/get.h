// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/datasets/catalogue.h"
#include "core/datasets/download.h"

namespace parallax::datasets {

struct GetRequest {
    /// Another place of the published files: the archive itself, or a folder (ending in "/") that holds the files under their
    /// published names. http, https, file, or a path. Empty: the publisher's.
    std::string url;
    std::string sha256;       ///< of the archive at `url`, where it was packed anew; empty: the published one's
    std::filesystem::path to; ///< the folder <name> is made in it; empty: paths::datasets()
    Download patience{};      ///< attempts, pause and silence of each download
};

struct Got {
    std::filesystem::path folder;
    bool already = false; ///< it was there before, whole
};

/// Brings a data set to <to>/<name>. The folder appears when it is whole; what is loaded until then lies in <to>/.<name>.loading
/// and a later call goes on from there. Errors: see download() and unpack(); no room; a folder of that name that holds
/// something else, which is never touched.
Result<Got> get(const Published &set, const GetRequest &request, const Hooks &hooks);

} // namespace parallax::datasets
