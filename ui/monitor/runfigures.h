// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/runfollower.h"
#include "core/session/workspace.h"
#include "ui/widgets/chart.h"
#include "ui/widgets/page.h"

#include <QString>

#include <optional>
#include <vector>

/// What the Monitor shows, computed from a run's data: no widgets here.
namespace parallax::ui {

enum class XMode { Step, Epoch, Relative, Wall };
XScale scaleOf(XMode mode);

/// A series as a chart's line. `factor` changes the unit (MB to GB: 0.001). Empty when the run has no such series.
std::optional<ChartSeries> lineOf(const session::RunData &data, const std::string &name, XMode mode, double factor = 1);
/// "<name>/r0", "<name>/r1" …: one line a rank, in the colours of the ranks.
std::vector<ChartSeries> rankLines(const session::RunData &data, const std::string &name, XMode mode, double factor = 1);
/// Checkpoints, evaluations, warnings, resumes and the failure as events of a chart.
std::vector<ChartEvent> eventsOf(const session::RunData &data, XMode mode);

/// The run's log lines and, between them, what its events say: evaluations, checkpoints, resumes, embeddings. By time.
std::vector<session::LogLine> logLines(const session::RunData &data);

/// The strip of key figures. NaN anywhere is shown as "–".
std::vector<KeyFigure> keyFigures(const session::RunData &data, const session::RunSummary &summary);
/// "SimCLR · ResNet-18 · Fashion-MNIST, 5,000 images · 2 ranks, SyncBatchNorm, gather".
QString subtitleOf(const session::RunData &data, const session::RunSummary &summary);
/// A figure of the plan event; NaN when it has none.
double planned(const session::RunData &data, const char *key);
/// Last finite value of a series; NaN when there is none.
double lastOf(const session::RunData &data, const std::string &name);
/// The rank whose last 50 steps took longest on average: the others wait for it. Nothing with a single rank.
std::optional<int> slowestRank(const session::RunData &data);
/// The run's memory is a GPU's: allocated_mb was reported.
bool onGpu(const session::RunData &data);

} // namespace parallax::ui
