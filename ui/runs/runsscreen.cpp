// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/runsscreen.h"

#include "core/session/qtconvert.h"
#include "ui/runs/runactions.h"
#include "ui/runs/rundelegate.h"
#include "ui/runs/runpreview.h"
#include "ui/runs/runtablemodel.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/page.h"

#include <QHeaderView>
#include <QMenu>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <set>

namespace parallax::ui {

using session::RunSummary;

namespace {
constexpr int previewFrom = 1280; ///< narrower windows show the preview on demand only
}

RunsScreen::RunsScreen(session::Workspace *workspace, RunActions *actions, QWidget *parent)
    : Screen(tr("Runs"), QStringLiteral("runs"), parent), m_workspace(workspace), m_actions(actions),
      m_model(new RunTableModel(this)), m_filter(new RunFilterModel(this)), m_table(new RunTable),
      m_preview(new RunPreview(workspace, actions)), m_stack(new QStackedWidget)
{
    makeTable();
    auto *nothing =
        new EmptyState(QStringLiteral("search"), tr("No run matches"), tr("No run in this folder fits the filters."));
    connect(nothing->setAction(tr("Clear filters")), &QPushButton::clicked, this, &RunsScreen::clearFilters);
    m_stack->addWidget(m_table);
    m_stack->addWidget(nothing);
    auto *left = new QVBoxLayout;
    left->setSpacing(0);
    left->addWidget(m_stack, 1);
    auto *middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addLayout(left, 1);
    middle->addWidget(m_preview);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHeader());
    column->addWidget(makeFilters());
    column->addLayout(middle, 1);
    connect(m_preview, &RunPreview::monitorRequested, this, &RunsScreen::monitorRequested);
    connect(m_preview, &RunPreview::embeddingsRequested, this, &RunsScreen::embeddingsRequested);
    connect(workspace, &session::Workspace::changed, this, [this] {
        m_model->setRuns(m_workspace->runs());
        runsChanged();
        // The page was opened before the folder had been read.
        if (isVisible() && !m_table->currentIndex().isValid() && m_filter->rowCount() > 0)
            m_table->setCurrentIndex(m_filter->index(0, 0));
    });
    m_model->setRuns(workspace->runs());
    runsChanged();
    placePreview();
}

void RunsScreen::makeTable()
{
    m_filter->setSourceModel(m_model);
    m_table->setModel(m_filter);
    m_table->setItemDelegate(new RunDelegate(m_table));
    m_table->setAccessibleName(title());
    // Newest first, as the workspace has them, until a header is clicked.
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    m_table->horizontalHeader()->setSortIndicatorClearable(true);
    m_table->setSortingEnabled(true);
    const int widths[] = {124, 232, 108, 96, 88, 80, 66, 80, 88, 76};
    for (int i = 0; i < RunTableModel::ColumnCount; ++i) m_table->setColumnWidth(i, Theme::instance().scaled(widths[i]));
    m_table->horizontalHeader()->setSectionResizeMode(RunTableModel::Name, QHeaderView::Stretch);
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_table, &QWidget::customContextMenuRequested, this, &RunsScreen::showMenu);
    connect(m_table, &RunTable::opened, this, [this](const QModelIndex &index) {
        if (const RunSummary *run = RunTableModel::summary(index)) Q_EMIT monitorRequested(run->folder);
    });
    connect(m_table, &RunTable::previewToggled, this, [this] { m_previewButton->toggle(); });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        const RunSummary *run = selected();
        m_preview->setRun(run ? run->folder : QString());
        Q_EMIT selectionChanged();
    });
}

QWidget *RunsScreen::makeHeader()
{
    m_header = new PageHeader(title());
    auto *start = makeButton(tr("New run"), QStringLiteral("plus"), ButtonKind::Primary);
    connect(start, &QPushButton::clicked, this, &RunsScreen::newRunRequested);
    m_header->addRight(start);
    return m_header;
}

QWidget *RunsScreen::makeFilters()
{
    auto *strip = new Strip(48);
    m_search = new SearchField(tr("Filter by name, data, method"), true);
    m_search->setFixedWidth(Theme::instance().scaled(240));
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_filter->setText(text);
        runsChanged();
    });
    auto *find = new QShortcut(QKeySequence::Find, this);
    connect(find, &QShortcut::activated, m_search, [this] { m_search->setFocus(Qt::ShortcutFocusReason); });
    const auto menuButton = [this](const QString &text, const QString &iconName, ButtonKind kind, auto fill) {
        auto *button = makeButton(text, iconName, kind, true);
        auto *menu = new QMenu(button);
        connect(menu, &QMenu::aboutToShow, this, [this, menu, fill] {
            menu->clear();
            (this->*fill)(menu);
        });
        button->setMenu(menu);
        return button;
    };
    m_methods = menuButton(tr("Method"), QStringLiteral("down"), ButtonKind::Plain, &RunsScreen::fillMethodMenu);
    m_states = menuButton(tr("State"), QStringLiteral("down"), ButtonKind::Plain, &RunsScreen::fillStateMenu);
    for (QPushButton *button : {m_methods, m_states}) button->setLayoutDirection(Qt::RightToLeft);
    auto *columns = menuButton(tr("Columns"), QStringLiteral("columns"), ButtonKind::Quiet, &RunsScreen::fillColumnMenu);
    m_previewButton = makeButton(tr("Preview"), QStringLiteral("layout"), ButtonKind::Quiet, true);
    m_previewButton->setCheckable(true);
    m_previewButton->setChecked(true);
    connect(m_previewButton, &QPushButton::toggled, this, [this](bool on) { m_preview->setVisible(on); });
    connect(m_previewButton, &QPushButton::clicked, this, [this](bool on) { m_previewWanted = on; });
    strip->row()->addWidget(m_search);
    strip->row()->addWidget(m_methods);
    strip->row()->addWidget(m_states);
    strip->row()->addStretch(1);
    strip->row()->addWidget(columns);
    strip->row()->addWidget(m_previewButton);
    return strip;
}

void RunsScreen::fillStateMenu(QMenu *menu)
{
    for (const auto state : {runs::State::Running, runs::State::Queued, runs::State::Paused, runs::State::Finished,
                             runs::State::Failed, runs::State::Interrupted}) {
        const StateLook look = stateLook(state);
        QAction *action = menu->addAction(icon(look.icon, look.color), look.label);
        action->setCheckable(true);
        action->setChecked(m_chosenStates.contains(int(state)));
        connect(action, &QAction::toggled, this, [this, state](bool on) {
            if (on)
                m_chosenStates.insert(int(state));
            else
                m_chosenStates.remove(int(state));
            m_filter->setStates(m_chosenStates);
            runsChanged();
        });
    }
}

void RunsScreen::fillMethodMenu(QMenu *menu)
{
    std::set<QString> methods;
    for (const RunSummary &run : m_workspace->runs())
        if (!run.method.isEmpty()) methods.insert(run.method);
    for (const QString &method : methods) {
        QAction *action = menu->addAction(method);
        action->setCheckable(true);
        action->setChecked(m_chosenMethods.contains(method));
        connect(action, &QAction::toggled, this, [this, method](bool on) {
            if (on)
                m_chosenMethods.insert(method);
            else
                m_chosenMethods.remove(method);
            m_filter->setMethods(m_chosenMethods);
            runsChanged();
        });
    }
}

void RunsScreen::fillColumnMenu(QMenu *menu)
{
    for (int column = RunTableModel::Dataset; column < RunTableModel::ColumnCount; ++column) {
        QAction *action = menu->addAction(m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
        action->setCheckable(true);
        action->setChecked(!m_table->isColumnHidden(column));
        connect(action, &QAction::toggled, this, [this, column](bool on) { m_table->setColumnHidden(column, !on); });
    }
}

void RunsScreen::clearFilters()
{
    m_chosenStates.clear();
    m_chosenMethods.clear();
    m_filter->setStates({});
    m_filter->setMethods({});
    m_search->clear();
    runsChanged();
}

void RunsScreen::runsChanged()
{
    int running = 0, paused = 0;
    for (const RunSummary &run : m_workspace->runs()) {
        running += run.record.state == runs::State::Running;
        paused += run.record.state == runs::State::Paused;
    }
    const int all = int(m_workspace->runs().size());
    QStringList note{all == 1 ? tr("%L1 run").arg(1) : tr("%1 runs").arg(formatCount(all))};
    if (m_filter->isFiltering()) note << tr("%1 shown").arg(formatCount(m_filter->rowCount()));
    if (running > 0) note << tr("%L1 running").arg(running);
    if (paused > 0) note << tr("%L1 paused").arg(paused);
    m_header->setNote(note.join(QStringLiteral("  ")));
    const auto label = [](const QString &name, qsizetype chosen) {
        return chosen > 0 ? QStringLiteral("%1: %L2").arg(name).arg(chosen) : name;
    };
    m_states->setText(label(tr("State"), m_chosenStates.size()));
    m_methods->setText(label(tr("Method"), m_chosenMethods.size()));
    m_stack->setCurrentIndex(m_filter->rowCount() == 0 && m_filter->isFiltering() ? 1 : 0);
}

const RunSummary *RunsScreen::selected() const
{
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    return rows.isEmpty() ? nullptr : RunTableModel::summary(rows.constFirst());
}

void RunsScreen::select(const QString &folder)
{
    const int row = m_model->rowOf(folder);
    if (row < 0) return;
    const QModelIndex index = m_filter->mapFromSource(m_model->index(row, 0));
    if (index.isValid()) m_table->setCurrentIndex(index);
}

void RunsScreen::activate()
{
    if (!m_table->currentIndex().isValid() && m_filter->rowCount() > 0) m_table->setCurrentIndex(m_filter->index(0, 0));
    m_table->setFocus(Qt::OtherFocusReason);
}

void RunsScreen::resizeEvent(QResizeEvent *event)
{
    Screen::resizeEvent(event);
    if (event->oldSize().width() != event->size().width()) placePreview();
}

void RunsScreen::placePreview()
{
    // The width of the window: this page and the rail.
    const bool room = width() + Theme::instance().scaled(80) >= Theme::instance().scaled(previewFrom);
    m_previewButton->setChecked(room && m_previewWanted);
}

void RunsScreen::showMenu(const QPoint &at)
{
    const RunSummary *found = RunTableModel::summary(m_table->indexAt(at));
    if (!found) return;
    const RunSummary run = *found; // the list may change while the menu is open
    QMenu menu(this);
    connect(menu.addAction(icon(QStringLiteral("monitor")), tr("Open in Monitor")), &QAction::triggered, this,
            [&] { Q_EMIT monitorRequested(run.folder); });
    connect(menu.addAction(icon(QStringLiteral("embeddings")), tr("Open embeddings")), &QAction::triggered, this,
            [&] { Q_EMIT embeddingsRequested(run.folder); });
    connect(menu.addAction(icon(QStringLiteral("clone")), tr("Clone as new run")), &QAction::triggered, this,
            [&] { Q_EMIT cloneRequested(run.folder); });
    menu.addSeparator();
    QAction *stop = menu.addAction(icon(QStringLiteral("stop"), Token::Error), tr("Stop after a checkpoint"));
    stop->setEnabled(RunActions::canStop(run));
    connect(stop, &QAction::triggered, this, [&] { m_actions->stop(run); });
    QAction *resume = menu.addAction(icon(QStringLiteral("resume")), tr("Resume"));
    resume->setEnabled(RunActions::canResume(run));
    connect(resume, &QAction::triggered, this, [&] { m_actions->resume(run); });
    menu.addSeparator();
    connect(menu.addAction(icon(QStringLiteral("folder")), tr("Show folder")), &QAction::triggered, this,
            [&] { m_actions->reveal(run); });
    QAction *copy = menu.addAction(icon(QStringLiteral("terminal")), tr("Copy command"));
    copy->setEnabled(!run.record.command.empty());
    connect(copy, &QAction::triggered, this, [&] { m_actions->copyCommand(run); });
    menu.exec(m_table->viewport()->mapToGlobal(at));
}

} // namespace parallax::ui
