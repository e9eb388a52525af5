// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/schema.h"

#include <map>
#include <string>

namespace parallax::fake {

using Options = std::map<std::string, std::string>; ///< "--config" → value

/// The answer of a one-shot job; its member "error" makes the process exit 1.
config::Json job(const std::string &name, const Options &options);

} // namespace parallax::fake
