// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/cli/arguments.h"
#include "core/config/schema.h"

#include <vector>

namespace parallax::cli {

/// What --preset, --config, --data, --ranks and --device say, in the order in which later ones win. --set comes after them.
Result<std::vector<config::Layer>> configLayers(const Arguments &arguments);

} // namespace parallax::cli
