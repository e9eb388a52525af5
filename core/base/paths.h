// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Where things lie on this machine. Environment first, then the XDG folders of the user.
namespace parallax::paths {

/// The folder of the running executable (siblings: parallax, parallax-worker, parallax-studio).
std::filesystem::path executableDir();
/// $PARALLAX_RUNS, else <user data>/parallax/runs.
std::filesystem::path defaultRuns();
/// $XDG_CACHE_HOME/parallax, else ~/.cache/parallax.
std::filesystem::path cache();
/// Where `parallax data get` puts data sets: $XDG_DATA_HOME/parallax/datasets, else ~/.local/share/parallax/datasets.
std::filesystem::path datasets();
/// Where a data set of that name may lie, the user's own place first, then those of the system: $XDG_DATA_DIRS/datasets.
std::vector<std::filesystem::path> datasetPlaces(const std::string &name);
/// A private folder for sockets, made when missing: $XDG_RUNTIME_DIR/parallax, else /tmp/parallax-<uid>, mode 0700 and
/// owned by the user. Where somebody else sits on that name, a fresh folder of another name.
std::filesystem::path runtime();
/// Free bytes on the file system that holds `path` (its nearest existing parent).
std::uintmax_t freeSpace(const std::filesystem::path &path);
/// Variables of the environment that begin with PARALLAX_ and mean nothing to any program of this project, each with what
/// was probably meant: "PARALLAX_RUN (did you mean PARALLAX_RUNS?)".
std::vector<std::string> unknownEnvironment();

} // namespace parallax::paths
