// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

/// Where things lie on this machine. Environment first, then the XDG folders of the user.
namespace parallax::paths {

/// The folder of the running executable (siblings: parallax, parallax-worker, parallax-studio).
std::filesystem::path executableDir();
/// $PARALLAX_RUNS, else <user data>/parallax/runs.
std::filesystem::path defaultRuns();
/// $XDG_CACHE_HOME/parallax, else ~/.cache/parallax.
std::filesystem::path cache();
/// A private folder for sockets: $XDG_RUNTIME_DIR/parallax, else /tmp/parallax-<uid>, mode 0700 and owned by the user.
std::filesystem::path runtime();
/// Free bytes on the file system that holds `path` (its nearest existing parent).
std::uintmax_t freeSpace(const std::filesystem::path &path);

} // namespace parallax::paths
