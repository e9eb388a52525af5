// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/cli/output.h"

namespace parallax::cli {

/// What `parallax data check` prints of the worker's answer.
std::string checkReport(const Json &answer);

} // namespace parallax::cli
