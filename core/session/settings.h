// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/schema.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace parallax::session {

/// The schema as the worker declares it, from a cache keyed by the worker's path, size and time when possible.
Result<config::Schema> loadSchema();
/// Only from the cache: nothing when the worker would have to be asked.
std::optional<config::Schema> cachedSchema();

struct Preset {
    QString name;  ///< "demo"
    QString label; ///< "Demo: SimCLR on Fashion-MNIST"
    config::Json values;
};
/// Built-in presets (resources/presets, compiled in), demo first.
std::vector<Preset> presets();
Result<Preset> findPreset(const QString &name); ///< unknown: names the nearest and all there are

} // namespace parallax::session
