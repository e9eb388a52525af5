// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/session/summary.h"

#include <QObject>
#include <QTimer>

namespace parallax::cli {

/// Shows how a run goes: on a terminal one line that is rewritten, elsewhere a line an epoch and a line a kNN accuracy; and
/// each warning, on a line of its own.
class Progress : public QObject
{
public:
    /// `told`: warnings that need no second telling.
    explicit Progress(const runs::RunFolder &folder, std::vector<std::string> told = {}, QObject *parent = nullptr);
    /// Reads what is left and ends the line, so that other text may follow.
    void finish();
    /// A line of other text between two states of the progress line.
    void say(const std::string &line);
    const session::RunSummary &summary() const { return m_summarizer.summary(); }

private:
    void update();
    void rewrite();
    void addLines();
    void addWarnings();
    void clear();

    session::Summarizer m_summarizer;
    const std::vector<std::string> m_told;
    QTimer m_timer;
    bool m_terminal;
    bool m_shown = false;
    std::int64_t m_knnStep = -1;
    int m_epoch = 0;
    std::int64_t m_warnings = 0, m_warningsShown = 0;
};

/// "epoch 2.3/5  step 90/195  loss 4.321  kNN 0.562 → 0.641  1240 images/s  0:48 left"
std::string progressLine(const session::RunSummary &summary);
/// "kNN 0.6831 (untrained 0.5620)"; empty before the first.
std::string knnText(const session::RunSummary &summary);

} // namespace parallax::cli
