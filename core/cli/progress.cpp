// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/progress.h"

#include "core/base/text.h"
#include "core/cli/output.h"

#include <algorithm>
#include <cmath>

namespace parallax::cli {

namespace {

constexpr int intervalMs = 200;
constexpr char eraseLine[] = "\r\x1b[2K";

std::string of(double done, int all, int decimals)
{
    return text::fixed(done, decimals) + (all > 0 ? "/" + std::to_string(all) : "");
}

std::string untrainedText(const session::RunSummary &summary)
{
    return "kNN " + text::fixed(summary.untrainedKnn, 4) + " (untrained)";
}

} // namespace

std::string knnText(const session::RunSummary &summary)
{
    if (std::isfinite(summary.lastKnn))
        return "kNN " + text::fixed(summary.lastKnn, 4) + " (untrained " + figure(summary.untrainedKnn, 4) + ")";
    return std::isfinite(summary.untrainedKnn) ? untrainedText(summary) : "";
}

std::string progressLine(const session::RunSummary &summary)
{
    std::string line = "epoch " + of(summary.epoch, summary.epochs, 1);
    line += "  step " + std::to_string(summary.step) + (summary.steps > 0 ? "/" + std::to_string(summary.steps) : "");
    line += "  loss " + figure(summary.loss, 3);
    if (std::isfinite(summary.untrainedKnn)) line += "  kNN " + text::fixed(summary.untrainedKnn, 3);
    if (std::isfinite(summary.lastKnn)) line += " → " + text::fixed(summary.lastKnn, 3);
    if (std::isfinite(summary.imagesPerSecond)) line += "  " + text::fixed(summary.imagesPerSecond, 0) + " images/s";
    if (std::isfinite(summary.secondsLeft)) line += "  " + text::duration(summary.secondsLeft) + " left";
    return line;
}

Progress::Progress(const runs::RunFolder &folder, std::vector<std::string> told, QObject *parent)
    : QObject(parent), m_summarizer(folder), m_told(std::move(told)), m_timer(this), m_terminal(stdoutIsTerminal())
{
    // Of a resumed run only what is new is told.
    m_summarizer.poll();
    m_epoch = int(summary().epoch);
    m_knnStep = summary().knnStep;
    m_warnings = summary().warningCount;
    connect(&m_timer, &QTimer::timeout, this, [this] { update(); });
    m_timer.start(intervalMs);
}

void Progress::update()
{
    if (!m_summarizer.poll()) return;
    addWarnings();
    if (m_terminal)
        rewrite();
    else
        addLines();
}

void Progress::rewrite()
{
    print(eraseLine + fitted(progressLine(summary()), terminalWidth() - 1));
    m_shown = true;
}

void Progress::addLines()
{
    const session::RunSummary &now = summary();
    if (int(now.epoch) > m_epoch) {
        m_epoch = int(now.epoch);
        std::string line = "epoch " + of(m_epoch, now.epochs, 0) + "  loss " + figure(now.loss, 4);
        if (std::isfinite(now.imagesPerSecond)) line += "  " + text::fixed(now.imagesPerSecond, 0) + " images/s";
        if (std::isfinite(now.secondsLeft)) line += "  " + text::duration(now.secondsLeft) + " left";
        printLine(line);
    }
    if (now.knnStep == m_knnStep) return;
    if (m_knnStep < 0 && now.knnStep > 0 && std::isfinite(now.untrainedKnn))
        printLine(untrainedText(now)); // both came at once
    m_knnStep = now.knnStep;
    printLine(knnText(now));
}

void Progress::addWarnings()
{
    constexpr std::int64_t most = 20; // a folder full of damaged files must not hide everything else
    const auto &kept = summary().warnings;
    const std::int64_t count = summary().warningCount, news = std::min(count - m_warnings, std::int64_t(kept.size()));
    m_warnings = count;
    for (std::int64_t i = std::int64_t(kept.size()) - news; i < std::int64_t(kept.size()); ++i) {
        const std::string warning = kept[std::size_t(i)].toStdString();
        if (std::find(m_told.begin(), m_told.end(), warning) != m_told.end()) continue;
        if (m_warningsShown == most) say(toned("warning", Tone::Warning) + ": more warnings are in the run's log");
        if (++m_warningsShown > most) continue;
        say(toned("warning", Tone::Warning) + ": " + text::printable(warning));
    }
}

void Progress::clear()
{
    if (m_shown) print(eraseLine);
    m_shown = false;
}

void Progress::say(const std::string &line)
{
    clear();
    printLine(line);
}

void Progress::finish()
{
    m_timer.stop();
    if (m_summarizer.poll()) {
        addWarnings();
        if (!m_terminal) addLines();
    }
    if (m_terminal) {
        rewrite();
        printLine();
    }
    m_shown = false;
}

} // namespace parallax::cli
