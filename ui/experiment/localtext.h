// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/config/schema.h"

#include <QLocale>
#include <QString>

#include <optional>

/// Values as a person reads and types them. Files, commands and the schema use the C form; a field shows the local form and
/// takes both: under a comma locale 0,05 and 0.05 are the same number, and 1.000 is one, never a thousand.
namespace parallax::experiment {

/// "0,05" under a comma locale; lists joined by "; " there, else by ", ". Texts stay as they are.
QString localText(const config::Field &field, const config::Json &value, const QLocale &locale = QLocale());

/// What was typed, read as the field's type; nothing when it cannot be read.
std::optional<config::Json> readLocal(const config::Schema &schema, const config::Field &field, const QString &text,
                                      const QLocale &locale = QLocale());

/// The value as `--set key=` takes it: C form, lists as "a,b".
QString commandText(const config::Json &value);

/// "0.01 to 1", "above 0", "at least 1": the range in the local form, for a muted note. Empty: there is none.
QString rangeText(const config::Field &field, const QLocale &locale = QLocale());
/// What is allowed, for an error: "Needs a whole number, at least 1".
QString needsText(const config::Field &field, const QLocale &locale = QLocale());

} // namespace parallax::experiment
