// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/summary.h"

#include <QString>

#include <vector>

namespace parallax::ui {

/// A run as an entry of a menu or a list to choose from.
struct RunChoice {
    QString folder, text;
    runs::State state;
    int color;
};

/// The newest runs, at most so many. Those that share a name say when they were started as well.
std::vector<RunChoice> runChoices(const std::vector<session::RunSummary> &runs, std::size_t most);

/// A text as a menu's entry: an ampersand is no shortcut.
QString menuText(QString text);

} // namespace parallax::ui
