// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/cli/arguments.h"
#include "core/runs/runfolder.h"

#include <string>
#include <vector>

namespace parallax::cli {

enum class Show { Progress, Json, Nothing };

/// Runs the ranks of the run in this process until they have all ended, and tells how it goes. Ctrl-C once: checkpoint and
/// stop; twice: end now. SIGTERM and SIGHUP stop as well. Returns the exit code of ARCHITECTURE.md. `told`: warnings that the
/// user has read already.
int superviseHere(const Arguments &arguments, const runs::RunFolder &folder, bool resume, Show show,
                  const std::vector<std::string> &told = {});

/// Leaves a supervisor of its own running and returns once it has taken the run over: prints {"run": folder} with --json.
int superviseDetached(const Arguments &arguments, const runs::RunFolder &folder, bool resume);

} // namespace parallax::cli
