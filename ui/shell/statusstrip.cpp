// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/statusstrip.h"

#include "core/base/paths.h"
#include "core/session/qtconvert.h"
#include "core/session/runname.h"
#include "ui/runs/runactions.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QDateTime>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace parallax::ui {

using session::RunSummary;
using session::toQString;

namespace {

constexpr int diskMs = 10'000;
constexpr std::size_t shownRanks = 4;

double last(const session::RunData &data, const std::string &name)
{
    const auto found = data.series.find(name);
    return found == data.series.end() ? std::nan("") : found->second.last();
}

} // namespace

StatusStrip::StatusStrip(session::Workspace *workspace, QWidget *parent) : QWidget(parent), m_workspace(workspace)
{
    setFixedHeight(Theme::instance().scaled(28));
    setFont(textFont(TextRole::Table));
    connect(workspace, &session::Workspace::changed, this, &StatusStrip::runsChanged);
    m_diskTimer.setInterval(diskMs);
    connect(&m_diskTimer, &QTimer::timeout, this, &StatusStrip::measureDisk);
    m_diskTimer.start();
    measureDisk();
    runsChanged();
}

void StatusStrip::measureDisk()
{
    m_free = double(paths::freeSpace(session::toPath(m_workspace->folder())));
    update();
}

void StatusStrip::runsChanged()
{
    const auto &runs = m_workspace->runs();
    const auto active =
        std::find_if(runs.begin(), runs.end(), [](const RunSummary &run) { return RunActions::canStop(run); });
    const QString folder = active == runs.end() ? QString() : active->folder;
    if (folder != activeRun()) {
        m_follower.reset();
        if (!folder.isEmpty()) {
            m_follower = std::make_unique<session::RunFollower>(folder);
            connect(m_follower.get(), &session::RunFollower::updated, this, qOverload<>(&QWidget::update));
        }
    }
    setCursor(folder.isEmpty() ? Qt::ArrowCursor : Qt::PointingHandCursor);
    update();
}

std::vector<StatusStrip::Memory> StatusStrip::memory() const
{
    std::vector<Memory> result;
    if (!m_follower) return result;
    const session::RunData &data = *m_follower->data();
    for (int rank = 0; rank < data.record.world && result.size() < shownRanks; ++rank) {
        const std::string suffix = "/r" + std::to_string(rank);
        const double allocated = last(data, "device_used_mb" + suffix), resident = last(data, "rss_mb" + suffix);
        const bool gpu = std::isfinite(allocated);
        if (!gpu && !std::isfinite(resident)) continue;
        result.push_back({tr("rank %L1").arg(rank), gpu ? allocated : resident,
                          gpu ? last(data, "device_total_mb" + suffix) : std::nan("")});
    }
    return result;
}

QString StatusStrip::runText(const RunSummary &run) const
{
    QString text = session::runName(run);
    if (run.epochs > 0) text += tr("   epoch %L1 / %L2").arg(std::min(int(run.epoch) + 1, run.epochs)).arg(run.epochs);
    if (run.record.state == runs::State::Paused)
        text += tr("   paused");
    else if (std::isfinite(run.secondsLeft))
        text += tr("   ends %1")
                    .arg(QDateTime::currentDateTime().addSecs(qint64(run.secondsLeft)).toString(QStringLiteral("HH:mm")));
    return text;
}

double StatusStrip::paintMemory(QPainter *painter, const Memory &memory, double x) const
{
    const bool gpu = std::isfinite(memory.totalMb);
    drawIcon(painter, QRectF(x, 0, 16, height()), gpu ? QStringLiteral("gpu") : QStringLiteral("cpu"), 14,
             color(Token::TextSecondary));
    x += 22;
    painter->setPen(color(Token::TextSecondary));
    const QFontMetricsF metrics(painter->font());
    painter->drawText(QRectF(x, 0, 200, height()), Qt::AlignVCenter, memory.device);
    x += metrics.horizontalAdvance(memory.device) + 8;
    if (gpu) {
        const QRectF track(x, height() / 2.0 - 3, 48, 6);
        painter->setPen(Qt::NoPen);
        painter->setBrush(color(Token::LineStrong));
        painter->drawRoundedRect(track, 3, 3);
        painter->setBrush(color(Token::TextMuted));
        painter->drawRoundedRect(
            QRectF(track.topLeft(), QSizeF(track.width() * std::clamp(memory.usedMb / memory.totalMb, 0.0, 1.0), 6)), 3, 3);
        x += 56;
    }
    QString text = formatMegabytes(memory.usedMb);
    if (gpu) text += QStringLiteral(" / ") + formatMegabytes(memory.totalMb);
    painter->setPen(color(Token::TextSecondary));
    const double width = tabularWidth(metrics, text);
    drawTabular(painter, QRectF(x, 0, width, height()), text, Qt::AlignLeft);
    x += width + 12;
    painter->fillRect(QRectF(x, 6, 1, height() - 12), color(Token::LineStrong));
    return x + 13;
}

double StatusStrip::paintRight(QPainter *painter, const QString &iconName, const QString &text, double right) const
{
    const double width = tabularWidth(QFontMetricsF(painter->font()), text);
    painter->setPen(color(Token::TextSecondary));
    drawTabular(painter, QRectF(right - width, 0, width, height()), text, Qt::AlignLeft);
    double left = right - width;
    if (!iconName.isEmpty()) {
        left -= 22;
        drawIcon(painter, QRectF(left, 0, 16, height()), iconName, 14, color(Token::TextSecondary));
    }
    painter->fillRect(QRectF(left - 13, 6, 1, height() - 12), color(Token::LineStrong));
    return left - 25;
}

void StatusStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), color(Token::Chrome));
    painter.fillRect(QRect(0, 0, width(), 1), color(Token::Line));
    const RunSummary *run = activeRun().isEmpty() ? nullptr : m_workspace->find(activeRun());
    double right = paintRight(&painter, QStringLiteral("disk"), tr("%1 free").arg(formatBytes(m_free)), width() - 12);
    const StateLook look = run ? stateLook(run->record.state) : StateLook();
    right = paintRight(&painter, look.icon, run ? runText(*run) : tr("No active run"), right);
    double x = 12;
    for (const Memory &each : memory())
        if (x < right - 180) x = paintMemory(&painter, each, x);
}

void StatusStrip::mouseReleaseEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton && !activeRun().isEmpty()) Q_EMIT runClicked(activeRun());
}

} // namespace parallax::ui
