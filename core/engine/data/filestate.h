// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace parallax::data {

/// Size and time of a file's last change (ns) as one text: whether it is still the file it was. Nothing where there is none.
std::optional<std::string> fileState(const std::filesystem::path &file);

/// The same with the file's absolute name: what is decoded from it, for as long as nobody writes to it.
std::optional<std::string> fileIdentity(const std::filesystem::path &file);

/// The state of the running program's own file: another build may decode differently.
const std::string &programState();

} // namespace parallax::data
