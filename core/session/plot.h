// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/session/runfollower.h"

#include <string>

namespace parallax::session {

/// Loss over steps and kNN accuracy over epochs as one SVG picture, side by side. The loss is smoothed, with the raw values
/// faint behind it; dotted lines mark chance (loss) and the untrained network (kNN). The same bytes in every locale.
std::string plotSvg(const RunData &data, const std::string &title);

/// Writes it to the run's plots.svg.
Status writePlots(const runs::RunFolder &folder);

} // namespace parallax::session
