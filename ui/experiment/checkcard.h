// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/card.h"
#include "ui/widgets/theme.h"

#include <QString>

#include <vector>

class QVBoxLayout;

namespace parallax::ui {
class Pill;
}

namespace parallax::experiment {

class Draft;
class Planner;

/// What the worker says of the draft: facts, warnings, errors, one a line.
class CheckCard : public ui::Card
{
    Q_OBJECT
public:
    CheckCard(Draft *draft, Planner *planner, const QString &runsFolder, QWidget *parent = nullptr);

    enum class Level { Ok, Warning, Error };
    struct Line {
        Level level;
        QString label, value;
        bool operator==(const Line &) const = default;
    };
    const std::vector<Line> &lines() const { return m_lines; }
    QString verdict() const;

private:
    void refresh();
    std::vector<Line> planLines() const;
    void fill(std::vector<Line> lines);

    Draft *m_draft;
    Planner *m_planner;
    QString m_runsFolder;
    ui::Pill *m_verdict;
    QVBoxLayout *m_column;
    std::vector<Line> m_lines;
};

} // namespace parallax::experiment
