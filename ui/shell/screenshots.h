// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QString>

namespace parallax::ui {

class MainWindow;

/// Renders each screen of `window` as PNG files into `folder`, in both themes: <screen>-<theme>.png, 1440 × 900 or
/// the size given by `width` and `height`. Waits for each screen's content, a few seconds at most.
Status takeScreenshots(MainWindow *window, const QString &folder, int width = 1440, int height = 900);

} // namespace parallax::ui
