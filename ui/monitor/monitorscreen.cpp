// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/monitorscreen.h"

#include "core/session/qtconvert.h"
#include "ui/monitor/chartgrid.h"
#include "ui/monitor/failurecard.h"
#include "ui/monitor/logpanel.h"
#include "ui/monitor/runfigures.h"
#include "ui/monitor/runheader.h"
#include "ui/runs/runactions.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>

#include <algorithm>

namespace parallax::ui {

namespace {
constexpr int defaultSmoothing = 60; ///< hundredths
const QString smoothingKey = QStringLiteral("monitor/smoothing");
} // namespace

MonitorScreen::MonitorScreen(session::Workspace *workspace, RunActions *actions, QWidget *parent)
    : Screen(tr("Monitor"), QStringLiteral("monitor"), parent), m_workspace(workspace), m_actions(actions),
      m_stack(new QStackedWidget)
{
    setFocusPolicy(Qt::ClickFocus);
    auto *empty = new EmptyState(QStringLiteral("monitor"), tr("No run to watch"),
                                 tr("Start a run, or open one from the table of runs."));
    connect(empty->setAction(tr("New run"), true), &QPushButton::clicked, this, &MonitorScreen::newRunRequested);
    m_stack->addWidget(empty);
    m_stack->addWidget(makePage());
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);
    connect(workspace, &session::Workspace::changed, this, &MonitorScreen::showData);
}

QWidget *MonitorScreen::makePage()
{
    m_header = new RunHeader(m_workspace, m_actions);
    m_figures = new KeyFigures;
    m_failure = new FailureCard(m_actions);
    m_charts = new ChartGrid;
    m_log = new LogPanel;
    auto *upper = new QWidget;
    auto *upperColumn = new QVBoxLayout(upper);
    upperColumn->setContentsMargins(0, 0, 0, 0);
    upperColumn->setSpacing(0);
    auto *failureRow = new QHBoxLayout;
    failureRow->setContentsMargins(16, 0, 16, 0);
    failureRow->addWidget(m_failure);
    upperColumn->addLayout(failureRow);
    upperColumn->addWidget(m_charts, 1);
    auto *split = new QSplitter(Qt::Vertical);
    split->setHandleWidth(1);
    split->addWidget(upper);
    split->addWidget(m_log);
    split->setStretchFactor(0, 1);
    split->setCollapsible(0, false);
    split->setSizes({600, Theme::instance().scaled(164)});
    auto *page = new QWidget;
    auto *column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_header);
    column->addWidget(m_figures);
    column->addWidget(makeStrip());
    column->addWidget(split, 1);
    connect(m_header, &RunHeader::runChosen, this, &MonitorScreen::openRun);
    connect(m_charts, &ChartGrid::embeddingsRequested, this, &MonitorScreen::embeddingsRequested);
    connect(m_charts, &ChartGrid::saved, this, &MonitorScreen::saved);
    connect(m_charts, &ChartGrid::saveFailed, this, &MonitorScreen::saveFailed);
    connect(m_failure, &FailureCard::cloneRequested, this, &MonitorScreen::cloneRequested);
    return page;
}

QWidget *MonitorScreen::makeStrip()
{
    m_strip = new Strip(40);
    m_smoothing = new QSlider(Qt::Horizontal);
    m_smoothing->setRange(0, 99);
    m_smoothing->setFixedWidth(Theme::instance().scaled(96));
    m_smoothing->setAccessibleName(tr("Smoothing"));
    auto *value = makeLabel(QString(), TextRole::Table, "secondary");
    value->setFixedWidth(Theme::instance().scaled(32));
    connect(m_smoothing, &QSlider::valueChanged, this, [this, value](int hundredths) {
        value->setText(formatFixed(hundredths / 100.0, 2));
        m_charts->setSmoothing(hundredths / 100.0);
        QSettings().setValue(smoothingKey, hundredths);
    });
    m_smoothing->setValue(std::clamp(QSettings().value(smoothingKey, defaultSmoothing).toInt(), 0, 99));
    m_xMode = new SegmentedControl;
    m_xMode->addSegment(tr("Step"));
    m_xMode->addSegment(tr("Epoch"));
    m_xMode->addSegment(tr("Relative"), tr("Time since the start"));
    m_xMode->addSegment(tr("Wall time"));
    connect(m_xMode, &SegmentedControl::currentChanged, this, [this](int index) { m_charts->setXMode(XMode(index)); });
    auto *logY = makeButton(tr("Log y"), QString(), ButtonKind::Plain, true);
    logY->setCheckable(true);
    logY->setToolTip(tr("Logarithmic loss axis"));
    connect(logY, &QPushButton::toggled, this, [this](bool on) { m_charts->setLogY(on); });
    m_follow = makeButton(tr("Following"), QStringLiteral("right"), ButtonKind::Quiet, true);
    m_follow->setCheckable(true);
    m_follow->setChecked(true);
    m_follow->setToolTip(tr("The x axis grows with the run"));
    connect(m_follow, &QPushButton::clicked, this, [this](bool on) { m_charts->group()->setFollowing(on); });
    connect(m_charts->group(), &ChartGroup::followingChanged, this, &MonitorScreen::showFollowing);
    auto *fit = makeButton(tr("Fit"), QStringLiteral("fit"), ButtonKind::Quiet, true);
    fit->setToolTip(tr("Show the whole run (double-click on a chart)"));
    connect(fit, &QPushButton::clicked, m_charts->group(), &ChartGroup::fit);
    auto *charts = makeButton(tr("Charts"), QStringLiteral("layout"), ButtonKind::Quiet, true);
    charts->setToolTip(tr("Which charts are shown"));
    auto *chartMenu = new QMenu(charts);
    connect(chartMenu, &QMenu::aboutToShow, this, [this, chartMenu] { m_charts->fillMenu(chartMenu); });
    charts->setMenu(chartMenu);
    QHBoxLayout *row = m_strip->row();
    row->addWidget(makeLabel(tr("Smoothing"), TextRole::Table, "secondary"));
    row->addWidget(m_smoothing);
    row->addWidget(value);
    row->addSpacing(12);
    row->addWidget(m_xMode);
    row->addSpacing(4);
    row->addWidget(logY);
    row->addSpacing(4);
    row->addWidget(m_follow);
    row->addStretch(1);
    row->addWidget(fit);
    row->addWidget(charts);
    return m_strip;
}

void MonitorScreen::openRun(const QString &folder)
{
    if (folder == run()) return;
    m_charts->clear();
    m_log->show(nullptr);
    m_errorShown = false;
    m_follower = std::make_unique<session::RunFollower>(folder);
    connect(m_follower.get(), &session::RunFollower::updated, this, &MonitorScreen::showData);
    connect(m_follower.get(), &session::RunFollower::vanished, this, &MonitorScreen::closeRun, Qt::QueuedConnection);
    m_stack->setCurrentIndex(1);
    showData();
}

void MonitorScreen::closeRun()
{
    m_follower.reset();
    m_charts->clear();
    m_log->show(nullptr);
    m_stack->setCurrentIndex(0);
}

void MonitorScreen::activate()
{
    setFocus(Qt::OtherFocusReason);
    // The run that is worth watching: one that is running, else the newest.
    if (m_follower || m_workspace->runs().empty()) return;
    const auto &runs = m_workspace->runs();
    const auto running =
        std::find_if(runs.begin(), runs.end(), [](const session::RunSummary &each) { return RunActions::canStop(each); });
    openRun((running == runs.end() ? runs.front() : *running).folder);
}

session::RunSummary MonitorScreen::summary() const
{
    const session::RunSummary *known = m_workspace->find(m_follower->folder());
    session::RunSummary result = known ? *known : session::RunSummary();
    result.folder = m_follower->folder();
    const runs::RunRecord &record = m_follower->data()->record;
    if (!record.id.empty()) result.record = record;
    return result;
}

void MonitorScreen::showData()
{
    if (!m_follower) return;
    const std::shared_ptr<const session::RunData> data = m_follower->data();
    const session::RunSummary run = summary();
    m_header->show(run, *data);
    m_figures->setFigures(keyFigures(*data, run));
    m_failure->show(run);
    m_figures->setVisible(run.record.state != runs::State::Failed);
    m_failure->parentWidget()->layout()->itemAt(0)->layout()->setContentsMargins(16, m_failure->isHidden() ? 0 : 8, 16, 0);
    m_charts->show(data, run);
    m_log->show(data);
    if (run.record.state == runs::State::Failed && !m_errorShown && !data->log.empty()) {
        m_errorShown = true;
        m_log->showFirstError();
    }
}

void MonitorScreen::showFollowing()
{
    const bool on = m_charts->group()->following();
    m_follow->setChecked(on);
    m_follow->setText(on ? tr("Following") : tr("Follow"));
}

} // namespace parallax::ui
