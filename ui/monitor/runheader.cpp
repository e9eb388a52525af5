// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/runheader.h"

#include "core/session/qtconvert.h"
#include "core/session/runname.h"
#include "ui/monitor/runfigures.h"
#include "ui/runs/runactions.h"
#include "ui/runs/runchoices.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace parallax::ui {

using session::RunData;
using session::RunSummary;
using session::toQString;

namespace {

constexpr int askMs = 4000;  ///< how long Stop waits for its second click
constexpr int menuRuns = 20; ///< newest runs in the menu beside the name

} // namespace

RunHeader::RunHeader(session::Workspace *workspace, RunActions *actions, QWidget *parent)
    : QWidget(parent), m_workspace(workspace), m_actions(actions)
{
    setFixedHeight(Theme::instance().scaled(64));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(24, 0, 12, 1);
    row->setSpacing(8);
    row->addWidget(makeTitle(), 1);
    row->addSpacing(16);
    row->addWidget(makeProgress());
    row->addSpacing(8);
    makeButtons();
    for (QWidget *button : std::initializer_list<QWidget *>{m_pause, m_checkpoint, m_stop, m_resume, m_more})
        row->addWidget(button);
    m_stopAsked.setSingleShot(true);
    m_stopAsked.setInterval(askMs);
    connect(&m_stopAsked, &QTimer::timeout, this, &RunHeader::disarmStop);
}

QWidget *RunHeader::makeTitle()
{
    auto *box = new QWidget;
    auto *column = new QVBoxLayout(box);
    column->setContentsMargins(0, 8, 0, 8);
    column->setSpacing(2);
    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    m_name = new ElidedLabel(TextRole::RunTitle, Qt::ElideMiddle);
    m_name->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    m_state = new Pill;
    auto *other = makeIconButton(QStringLiteral("down"), tr("Show another run"));
    m_runMenu = new QMenu(other);
    connect(m_runMenu, &QMenu::aboutToShow, this, &RunHeader::fillRunMenu);
    other->setMenu(m_runMenu);
    other->setPopupMode(QToolButton::InstantPopup);
    line->addWidget(m_name);
    line->addWidget(other);
    line->addWidget(m_state);
    line->addStretch(1);
    m_subtitle = new ElidedLabel(TextRole::Table);
    setStyleProperty(m_subtitle, "tone", QStringLiteral("secondary"));
    column->addLayout(line);
    column->addWidget(m_subtitle);
    return box;
}

QWidget *RunHeader::makeProgress()
{
    auto *box = new QWidget;
    box->setFixedWidth(Theme::instance().scaled(300));
    auto *column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addStretch(1);
    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    m_epoch = makeLabel(QString(), TextRole::CardTitle);
    m_steps = makeLabel(QString(), TextRole::Table, "secondary");
    m_left = makeLabel(QString(), TextRole::CardTitle);
    line->addWidget(m_epoch);
    line->addWidget(m_steps);
    line->addStretch(1);
    line->addWidget(m_left);
    column->addLayout(line);
    m_bar = new QProgressBar;
    m_bar->setTextVisible(false);
    m_bar->setRange(0, 1000);
    m_bar->setAccessibleName(tr("Progress"));
    column->addWidget(m_bar);
    column->addStretch(1);
    return box;
}

void RunHeader::makeButtons()
{
    m_pause = makeButton(tr("Pause"), QStringLiteral("pause"));
    m_checkpoint = makeButton(tr("Checkpoint"), QStringLiteral("checkpoint"));
    m_checkpoint->setToolTip(tr("Write a checkpoint at the next step"));
    m_stop = makeButton(tr("Stop"), QStringLiteral("stop"), ButtonKind::Danger);
    m_resume = makeButton(tr("Resume"), QStringLiteral("resume"), ButtonKind::Primary);
    m_more = makeIconButton(QStringLiteral("more"), tr("More"));
    m_moreMenu = new QMenu(m_more);
    connect(m_moreMenu, &QMenu::aboutToShow, this, &RunHeader::fillMoreMenu);
    m_more->setMenu(m_moreMenu);
    m_more->setPopupMode(QToolButton::InstantPopup);
    m_stop->setObjectName(QStringLiteral("stop"));
    m_pause->setObjectName(QStringLiteral("pause"));
    m_resume->setObjectName(QStringLiteral("resume"));
    connect(m_pause, &QPushButton::clicked, this, [this] {
        if (m_run.record.state == runs::State::Paused)
            m_actions->resume(m_run);
        else
            m_actions->pause(m_run);
    });
    connect(m_checkpoint, &QPushButton::clicked, this, [this] { m_actions->checkpoint(m_run); });
    connect(m_stop, &QPushButton::clicked, this, &RunHeader::stopClicked);
    connect(m_resume, &QPushButton::clicked, this, [this] {
        m_resume->setEnabled(false); // until the state says more, or the attempt failed
        m_actions->resume(m_run);
    });
    connect(m_actions, &RunActions::failed, this, [this] {
        m_resume->setEnabled(true);
        m_stopping = false;
        disarmStop();
    });
}

void RunHeader::stopClicked()
{
    if (!m_stopAsked.isActive()) {
        m_stopAsked.start();
        m_stop->setText(tr("Stop, sure?"));
        m_stop->setToolTip(tr("Click again: writes a checkpoint, then ends"));
        return;
    }
    m_stopAsked.stop();
    m_stopping = true;
    m_stop->setText(tr("Stopping…"));
    m_stop->setEnabled(false);
    m_actions->stop(m_run);
}

void RunHeader::disarmStop()
{
    m_stopAsked.stop();
    if (m_stopping) return;
    m_stop->setText(tr("Stop"));
    m_stop->setToolTip(tr("Write a checkpoint, then end"));
    m_stop->setEnabled(true);
}

void RunHeader::show(const RunSummary &run, const RunData &data)
{
    if (run.folder != m_run.folder || !RunActions::canStop(run)) {
        m_stopping = false;
        disarmStop();
    }
    m_run = run;
    const StateLook look = stateLook(run.record.state);
    m_name->setFullText(session::runName(run));
    const bool busy = run.record.state == runs::State::Running && !data.activity.isEmpty() &&
        data.activity != QLatin1String("training") && data.activity != QLatin1String("finished");
    QString label = look.label;
    if (busy) label += QStringLiteral(", ") + data.activity;
    m_state->set(look.icon, label, look.color, look.soft);
    m_subtitle->setFullText(subtitleOf(data, run));
    showProgress(run, data);
    showButtons(run);
}

void RunHeader::showProgress(const RunSummary &run, const RunData &data)
{
    // The events may be newer than the summary.
    const double epoch = std::max(run.epoch, data.epoch), step = double(std::max(run.step, data.step));
    const int epochs = run.epochs > 0 ? run.epochs : int(std::max(0.0, planned(data, "epochs")));
    const double steps = run.steps > 0 ? double(run.steps) : planned(data, "steps");
    m_epoch->setText(
        epochs > 0
            ? tr("Epoch %1").arg(formatOf(std::min(std::floor(epoch) + (run.ended() ? 0 : 1), double(epochs)), epochs))
            : tr("Starting"));
    m_steps->setText(steps > 0 ? tr("step %1").arg(formatOf(step, steps)) : QString());
    QString left;
    if (run.record.state == runs::State::Running && std::isfinite(run.secondsLeft))
        left = tr("%1 left").arg(formatRoughly(run.secondsLeft));
    else if (run.ended() && std::isfinite(run.duration))
        left = tr("after %1").arg(formatRoughly(run.duration));
    m_left->setText(left);
    m_bar->setValue(steps > 0 ? int(std::clamp(step / steps, 0.0, 1.0) * 1000) : 0);
    setStyleProperty(m_bar, "tone", stateLook(run.record.state).tone);
}

void RunHeader::showButtons(const RunSummary &run)
{
    const bool active = RunActions::canStop(run), paused = run.record.state == runs::State::Paused;
    m_pause->setVisible(active);
    m_pause->setText(paused ? tr("Resume") : tr("Pause"));
    m_pause->setIcon(icon(paused ? QStringLiteral("resume") : QStringLiteral("pause"), Token::Text));
    m_checkpoint->setVisible(active);
    m_stop->setVisible(active);
    const bool resumable = RunActions::canResume(run) && !paused;
    if (!m_resume->isVisibleTo(this) && resumable) m_resume->setEnabled(true);
    m_resume->setVisible(resumable);
}

void RunHeader::fillRunMenu()
{
    m_runMenu->clear();
    for (const RunChoice &run : runChoices(m_workspace->runs(), menuRuns)) {
        const StateLook look = stateLook(run.state);
        QAction *action = m_runMenu->addAction(icon(look.icon, look.color), menuText(run.text));
        connect(action, &QAction::triggered, this, [this, folder = run.folder] { Q_EMIT runChosen(folder); });
    }
}

void RunHeader::fillMoreMenu()
{
    m_moreMenu->clear();
    connect(m_moreMenu->addAction(icon(QStringLiteral("folder")), tr("Show folder")), &QAction::triggered, this,
            [this] { m_actions->reveal(m_run); });
    QAction *copy = m_moreMenu->addAction(icon(QStringLiteral("terminal")), tr("Copy command"));
    copy->setEnabled(!m_run.record.command.empty());
    connect(copy, &QAction::triggered, this, [this] { m_actions->copyCommand(m_run); });
}

void RunHeader::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), color(Token::Panel));
    painter.fillRect(QRect(0, height() - 1, width(), 1), color(Token::Line));
}

} // namespace parallax::ui
