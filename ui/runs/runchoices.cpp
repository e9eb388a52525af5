// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/runchoices.h"

#include "core/session/runname.h"
#include "ui/widgets/format.h"

#include <QHash>

#include <algorithm>

namespace parallax::ui {

std::vector<RunChoice> runChoices(const std::vector<session::RunSummary> &runs, std::size_t most)
{
    const std::size_t count = std::min(runs.size(), most);
    std::vector<RunChoice> choices;
    choices.reserve(count);
    QHash<QString, int> seen;
    for (std::size_t i = 0; i < count; ++i) {
        choices.push_back({runs[i].folder, session::runName(runs[i]), runs[i].record.state, runs[i].record.color});
        ++seen[choices.back().text];
    }
    for (std::size_t i = 0; i < count; ++i)
        if (seen.value(choices[i].text) > 1) choices[i].text += QStringLiteral("   ") + formatMoment(runs[i].record.created);
    return choices;
}

QString menuText(QString text) { return text.replace(QLatin1Char('&'), QLatin1String("&&")); }

} // namespace parallax::ui
