// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/cli/arguments.h"

#include <string>
#include <vector>

namespace parallax::cli {

/// Runs `parallax WORDS…` and returns its exit code. Needs a QCoreApplication.
int run(const std::vector<std::string> &words);

/// All commands, in the order of the overview.
std::vector<Command> commands();

} // namespace parallax::cli
