// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/runpreview.h"

#include "core/session/qtconvert.h"
#include "core/session/runname.h"
#include "core/session/settings.h"
#include "ui/runs/changedsettings.h"
#include "ui/runs/factgrid.h"
#include "ui/runs/runactions.h"
#include "ui/widgets/background.h"
#include "ui/widgets/chart.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>

#include <cmath>
#include <utility>

namespace parallax::ui {

using session::RunSummary;
using session::toQString;

namespace {

constexpr int restMs = 150; ///< how long the selection rests before curves are read

QWidget *titled(const QString &title, QLabel *value, Chart *chart)
{
    auto *box = new QWidget;
    auto *column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    auto *head = new QHBoxLayout;
    head->addWidget(makeLabel(title, TextRole::Chip, "secondary"));
    head->addStretch(1);
    head->addWidget(value);
    column->addLayout(head);
    chart->setCompact(true);
    chart->setFixedHeight(Theme::instance().scaled(112));
    column->addWidget(chart);
    return box;
}

QString shortCommit(const nlohmann::ordered_json &git)
{
    const auto commit = git.is_object() ? git.find("commit") : git.end();
    if (!git.is_object() || commit == git.end() || !commit->is_string()) return {};
    return toQString(commit->get<std::string>()).left(7);
}

QString deviceText(const runs::RunRecord &record)
{
    QStringList names;
    for (const std::string &device : record.devices) names << toQString(device);
    names.removeDuplicates();
    return QStringLiteral("%L1, %2")
        .arg(record.world)
        .arg(names.isEmpty() ? QStringLiteral("–") : names.join(QStringLiteral(", ")));
}

} // namespace

RunPreview::RunPreview(session::Workspace *workspace, RunActions *actions, QWidget *parent)
    : QWidget(parent), m_workspace(workspace), m_actions(actions)
{
    setFixedWidth(Theme::instance().scaled(288));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(17, 16, 4, 12);
    column->setSpacing(12);
    QWidget *head = makeHead();
    head->layout()->setContentsMargins(0, 0, 12, 0); // the scroll bar's room, for what does not scroll
    column->addWidget(head);
    m_reason = makeLabel(QString(), TextRole::Table, "error");
    m_reason->setWordWrap(true);
    m_reason->hide();
    column->addWidget(m_reason);
    column->addWidget(makeBody(), 1);
    m_followSoon.setSingleShot(true);
    m_followSoon.setInterval(restMs);
    connect(&m_followSoon, &QTimer::timeout, this, &RunPreview::follow);
    connect(workspace, &session::Workspace::changed, this, &RunPreview::showSummary);
    setRun(QString());
}

QWidget *RunPreview::makeHead()
{
    auto *box = new QWidget;
    auto *column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(10);
    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    m_swatch = new Swatch(0);
    m_name = new ElidedLabel(TextRole::Section, Qt::ElideMiddle);
    m_state = new Pill;
    line->addWidget(m_swatch);
    line->addWidget(m_name, 1);
    line->addWidget(m_state);
    column->addLayout(line);
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    m_monitor = makeButton(tr("Monitor"), QStringLiteral("monitor"), ButtonKind::Plain, true);
    m_embeddings = makeButton(tr("Embeddings"), QStringLiteral("embeddings"), ButtonKind::Plain, true);
    auto *command = makeButton(QString(), QStringLiteral("terminal"), ButtonKind::Plain, true);
    command->setToolTip(tr("Copy the command that started it"));
    command->setAccessibleName(command->toolTip());
    buttons->addWidget(m_monitor, 1);
    buttons->addWidget(m_embeddings, 1);
    buttons->addWidget(command);
    column->addLayout(buttons);
    connect(m_monitor, &QPushButton::clicked, this, [this] { Q_EMIT monitorRequested(m_folder); });
    connect(m_embeddings, &QPushButton::clicked, this, [this] { Q_EMIT embeddingsRequested(m_folder); });
    connect(command, &QPushButton::clicked, this, [this] {
        if (const RunSummary *run = m_workspace->find(m_folder)) m_actions->copyCommand(*run);
    });
    return box;
}

/// Scrolls: how many settings differ from the defaults is anybody's guess.
QWidget *RunPreview::makeBody()
{
    auto *scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto *body = new QWidget;
    body->setProperty("role", QStringLiteral("panel"));
    auto *column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 12, 0);
    column->setSpacing(12);
    m_facts = new FactGrid;
    m_changes = new FactGrid;
    m_changesTitle = makeLabel(QString(), TextRole::Chip, "secondary");
    column->addWidget(makeCharts());
    column->addWidget(makeLine(Qt::Horizontal));
    column->addWidget(m_facts);
    column->addWidget(makeLine(Qt::Horizontal));
    column->addWidget(m_changesTitle);
    column->addWidget(m_changes);
    column->addStretch(1);
    scroll->setWidget(body);
    return scroll;
}

QWidget *RunPreview::makeCharts()
{
    auto *box = new QWidget;
    auto *column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    m_lossValue = makeLabel(QString(), TextRole::CardTitle);
    m_knnValue = makeLabel(QString(), TextRole::CardTitle);
    m_loss = new Chart;
    m_loss->setSmoothing(0.6);
    m_knn = new Chart;
    column->addWidget(titled(tr("Loss"), m_lossValue, m_loss));
    column->addWidget(titled(tr("kNN accuracy"), m_knnValue, m_knn));
    return box;
}

void RunPreview::setRun(const QString &folder)
{
    if (folder == m_folder && !folder.isEmpty()) return;
    m_folder = folder;
    m_follower.reset();
    m_loss->setSeries({});
    m_knn->setSeries({});
    m_changesTitle->setText({});
    m_changes->setFacts({});
    showSummary();
    if (isVisible()) m_followSoon.start();
}

void RunPreview::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (!m_follower) m_followSoon.start();
}

void RunPreview::follow()
{
    if (m_folder.isEmpty() || !isVisible()) return;
    m_follower = std::make_unique<session::RunFollower>(m_folder);
    connect(m_follower.get(), &session::RunFollower::updated, this, &RunPreview::showCurves);
}

void RunPreview::showSummary()
{
    const RunSummary *run = m_folder.isEmpty() ? nullptr : m_workspace->find(m_folder);
    for (QWidget *child : findChildren<QWidget *>(Qt::FindDirectChildrenOnly)) child->setVisible(run != nullptr);
    if (!run) return;
    const StateLook look = stateLook(run->record.state);
    m_swatch->setSeries(run->record.color);
    m_name->setFullText(session::runName(*run));
    m_state->set(look.icon, look.label, look.color, look.soft);
    m_lossValue->setText(formatMetric(run->loss));
    m_knnValue->setText(formatFixed(run->lastKnn, 4));
    QString reason = run->problem;
    if (run->record.failure)
        reason = toQString(run->record.failure->summary());
    else if (reason.isEmpty() && run->record.state == runs::State::Interrupted)
        reason = toQString(run->record.state_reason);
    m_reason->setText(reason);
    m_reason->setVisible(!reason.isEmpty());
    setStyleProperty(m_reason, "tone",
                     run->record.state == runs::State::Failed ? QStringLiteral("error") : QStringLiteral("secondary"));
    const runs::RunFolder folder(session::toPath(run->folder));
    const auto checkpoints = folder.listCheckpoints();
    m_embeddings->setEnabled(run->problem.isEmpty());
    m_facts->setFacts(
        {{tr("Started"), formatMoment(run->record.created), {}},
         {tr("Duration"), formatDuration(run->duration), {}},
         {tr("Ranks"), deviceText(run->record), {}},
         {tr("Epoch"), run->epochs > 0 ? formatOf(std::floor(run->epoch), run->epochs) : QStringLiteral("–"), {}},
         {tr("Images / s"), formatCount(run->imagesPerSecond), {}},
         {tr("Best kNN"), formatFixed(run->bestKnn, 4), {}},
         {tr("Untrained"), formatFixed(run->untrainedKnn, 4), {}},
         {tr("Checkpoints"),
          checkpoints.empty()
              ? tr("none")
              : tr("%1, last at step %2")
                    .arg(formatCount(double(checkpoints.size())), formatCount(double(checkpoints.back().step))),
          {}},
         {tr("Commit"), shortCommit(run->record.git), {}}});
}

void RunPreview::showChanges()
{
    if (!m_follower) return;
    if (!m_schema) m_schema = session::cachedSchema();
    if (!m_schema) return askForSchema();
    const config::Json &config = m_follower->data()->config;
    const auto changes = config.is_object() ? changedSettings(*m_schema, config) : std::vector<Fact>();
    m_changesTitle->setText(!config.is_object()   ? tr("The settings cannot be read")
                                : changes.empty() ? tr("All settings at their defaults")
                                                  : tr("Changed from the defaults"));
    m_changes->setFacts(changes);
}

/// The first time on this machine, or with a new worker: it is asked once.
void RunPreview::askForSchema()
{
    if (std::exchange(m_schemaAsked, true)) return;
    inBackground(
        this, [] { return session::loadSchema(); },
        [this](Result<config::Schema> schema) {
            if (!schema) return; // New run says why
            m_schema = std::move(*schema);
            showChanges();
        });
}

void RunPreview::showCurves()
{
    const std::shared_ptr<const session::RunData> data = m_follower->data();
    const auto line = [&](const char *name, bool smooth) -> std::vector<ChartSeries> {
        const auto found = data->series.find(name);
        if (found == data->series.end()) return {};
        ChartSeries series;
        series.color = data->record.color;
        series.x = found->second.epoch;
        series.y = found->second.value;
        series.smooth = smooth;
        return {series};
    };
    m_loss->setSeries(line("loss", true));
    m_knn->setSeries(line("knn_top1", false));
    const bool live = data->record.state == runs::State::Running;
    m_loss->setLive(live);
    m_knn->setLive(live);
    showChanges();
}

void RunPreview::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), color(Token::Panel));
    painter.fillRect(QRect(0, 0, 1, height()), color(Token::Line));
    if (!m_folder.isEmpty()) return;
    painter.setPen(color(Token::TextMuted));
    painter.setFont(textFont(TextRole::Table));
    painter.drawText(rect().adjusted(16, 24, -16, 0), Qt::AlignHCenter | Qt::AlignTop, tr("Select a run to see it here"));
}

} // namespace parallax::ui
