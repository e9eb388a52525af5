// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/workspace.h"
#include "ui/monitor/runfigures.h"

#include <QString>
#include <QStringList>

#include <vector>

/// Which charts a run can be shown by, and what each holds: no widgets here.
namespace parallax::ui {

/// One chart's content for the x axis that was asked for.
struct ChartContent {
    QString title, subtitle;
    std::vector<ChartSeries> series;
    std::vector<ReferenceLine> references;
    int decimals = -1; ///< of values in the head; -1: about four figures
    bool fromZero = false;
    bool checkpoints = false; ///< shows checkpoints and evaluations too, not only resumes, warnings and the failure
};

/// Charts that every run has, in their first order. Any other figure of a run is a chart of its own, called as the figure.
QStringList standardCharts();
/// Those of them that are shown until the person chooses.
QStringList shownAtFirst();
/// standardCharts and, by name, the figures of this run that none of them holds.
QStringList chartsOf(const session::RunData &data);
/// "Learning rate" of "lr"; a figure of no standard chart by its own name, with blanks.
QString chartTitle(const QString &chart);
/// What the chart holds of the run; empty series where the run has no such figure.
ChartContent chartContent(const QString &chart, const session::RunData &data, const session::RunSummary &run, XMode mode);

} // namespace parallax::ui
