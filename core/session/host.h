// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

/// What a run's record says of the machine and the moment it was started in.
namespace parallax::session {

std::int64_t ownPid();
std::string hostName();
double wallClock(); ///< seconds since 1970

/// A file of 64 kB, best effort: removed at the end of a run, it leaves room for the last run.json on a full disk.
void reserveSpace(const std::filesystem::path &file);

/// {"commit", "dirty"} of the checkout that holds the current directory; null outside one, or without git.
nlohmann::ordered_json gitState();

} // namespace parallax::session
