// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/schema.h"

#include <QString>

namespace parallax::session {

struct RunSummary;

/// What a run is called everywhere: its own name, else one made of its settings, else its folder's. Safe to show.
QString runName(const RunSummary &run);
/// "SimCLR · Fashion-MNIST · b128"; what is not known is left out.
QString defaultRunName(const config::Json &config);

/// The label that the worker's schema gives a choice ("SimCLR" for simclr); the value itself where there is none, or where
/// the schema was never asked for on this machine.
QString choiceLabel(const char *key, const QString &value);

} // namespace parallax::session
