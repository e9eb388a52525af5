// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/config/schema.h"
#include "ui/runs/factgrid.h"

namespace parallax::ui {

/// What of a run's configuration differs from the schema's defaults, in the schema's order: label and value as the form
/// shows them, the key as hint. Settings that the schema does not know (of another version) come last, by their key.
std::vector<Fact> changedSettings(const config::Schema &schema, const config::Json &config);

} // namespace parallax::ui
