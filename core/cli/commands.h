// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/cli/arguments.h"
#include "core/runs/runfolder.h"

#include <filesystem>

/// Each command's declaration; app.cpp puts them together.
namespace parallax::cli {

Command trainCommand();
Command resumeCommand();
Command superviseCommand(); ///< what --detach leaves running
Command stopCommand();
Command listCommand();
Command showCommand();
Command methodsCommand();
Command schemaCommand();
Command configCommand();
Command doctorCommand();
Command dataCheckCommand();
Command dataGetCommand();
Command dataStatsCommand();
Command previewCommand();
Command embedCommand();
Command evalCommand();
Command exportCommand();
Command selftestCommand();

/// Options that several commands share.
Option runsOption();
Option jsonOption();
/// --preset, --config, --set, --data, --ranks, --device.
std::vector<Option> configOptions();

/// --runs, $PARALLAX_RUNS, or the user's data folder.
std::filesystem::path runsFolder(const Arguments &arguments);
/// The run named by the first operand.
Result<runs::RunFolder> namedRun(const Arguments &arguments);

} // namespace parallax::cli
