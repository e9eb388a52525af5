// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/mainwindow.h"

#include "core/session/qtconvert.h"
#include "ui/embeddings/embeddingsscreen.h"
#include "ui/experiment/newrunscreen.h"
#include "ui/monitor/monitorscreen.h"
#include "ui/runs/runactions.h"
#include "ui/runs/runsscreen.h"
#include "ui/shell/firstrunpage.h"
#include "ui/shell/railbar.h"
#include "ui/shell/statusstrip.h"
#include "ui/shell/toast.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/icons.h"

#include <QCloseEvent>
#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenuBar>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>

#include <algorithm>

namespace parallax::ui {

namespace {

const QString geometryKey = QStringLiteral("window/geometry");

/// "~/parallax/runs" for a folder below home.
QString shortPath(const QString &folder)
{
    const QString home = QDir::homePath();
    QString path = folder.startsWith(home + QLatin1Char('/')) ? QLatin1Char('~') + folder.mid(home.size()) : folder;
    constexpr int most = 40;
    return path.size() <= most ? path : QStringLiteral("…") + path.right(most - 1);
}

} // namespace

MainWindow::MainWindow(const QString &runsFolder)
    : m_workspace(std::make_unique<session::Workspace>(runsFolder)), m_actions(new RunActions(this)),
      m_toast(new Toast(this))
{
    setMinimumSize(1100, 700);
    setMenuWidget(makeTopBar());
    connect(m_actions, &RunActions::done, m_toast, &Toast::tell);
    connect(m_actions, &RunActions::failed, m_toast, &Toast::warn);
    connect(m_actions, &RunActions::done, this, [this] { m_workspace->refresh(); });
    makeScreens();
    restoreWindow();
}

MainWindow::~MainWindow()
{
    // Screens hold the workspace: they go first.
    delete takeCentralWidget();
}

QWidget *MainWindow::makeTopBar()
{
    auto *bar = new QWidget;
    bar->setProperty("role", QStringLiteral("chrome"));
    bar->setAttribute(Qt::WA_StyledBackground);
    bar->setFixedHeight(Theme::instance().scaled(40));
    auto *row = new QHBoxLayout;
    row->setContentsMargins(0, 0, 16, 0);
    row->setSpacing(0);
    auto *sign = new QLabel;
    sign->setPixmap(icon(QStringLiteral("parallax")).pixmap(22, 22));
    sign->setFixedWidth(Theme::instance().scaled(80));
    sign->setAlignment(Qt::AlignCenter);
    auto *menus = new QMenuBar;
    menus->setFont(textFont(TextRole::Body));
    makeMenus(menus);
    m_folderButton = makeButton(QString(), QStringLiteral("folder"), ButtonKind::Quiet, true);
    m_folderButton->setFocusPolicy(Qt::TabFocus);
    m_folderButton->setToolTip(tr("Choose another folder of runs"));
    connect(m_folderButton, &QPushButton::clicked, this, &MainWindow::chooseRunsFolder);
    // Aligned, so that none of them limits the bar's height.
    row->addWidget(sign, 0, Qt::AlignVCenter);
    row->addWidget(menus, 0, Qt::AlignVCenter);
    row->addStretch(1);
    row->addWidget(m_folderButton, 0, Qt::AlignVCenter);
    auto *column = new QVBoxLayout(bar);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(row, 1);
    column->addWidget(makeLine(Qt::Horizontal));
    return bar;
}

void MainWindow::makeScreens()
{
    m_folderButton->setText(shortPath(m_workspace->folder()));
    auto *central = new QWidget;
    m_stack = new QStackedWidget;
    m_firstRun = new FirstRunPage(m_workspace->folder());
    m_runs = new RunsScreen(m_workspace.get(), m_actions);
    m_newRun = new experiment::NewRunScreen(m_workspace.get());
    m_monitor = new MonitorScreen(m_workspace.get(), m_actions);
    m_embeddings = new embeddings::EmbeddingsScreen(m_workspace.get());
    m_rail = new RailBar;
    for (Screen *screen : std::initializer_list<Screen *>{m_runs, m_newRun, m_monitor, m_embeddings}) {
        m_rail->add(screen->iconName(), screen->title());
        m_stack->addWidget(screen);
    }
    m_stack->addWidget(m_firstRun);
    m_status = new StatusStrip(m_workspace.get());
    auto *middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(m_rail);
    middle->addWidget(m_stack, 1);
    auto *column = new QVBoxLayout(central);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(middle, 1);
    column->addWidget(m_status);
    setCentralWidget(central);
    m_toast->raise();
    connectScreens();
    m_stack->setCurrentWidget(m_firstRun); // so that the first page is entered like any other
    go(Runs);
}

void MainWindow::connectScreens()
{
    connect(m_rail, &RailBar::chosen, this, [this](int index) { go(Place(index)); });
    connect(m_status, &StatusStrip::runClicked, this, &MainWindow::openMonitor);
    connect(m_runs, &RunsScreen::monitorRequested, this, &MainWindow::openMonitor);
    connect(m_runs, &RunsScreen::embeddingsRequested, this, [this](const QString &folder) { openEmbeddings(folder); });
    connect(m_runs, &RunsScreen::cloneRequested, this, &MainWindow::cloneRun);
    connect(m_runs, &RunsScreen::newRunRequested, this, [this] { go(NewRun); });
    connect(m_monitor, &MonitorScreen::embeddingsRequested, this, &MainWindow::openEmbeddings);
    connect(m_monitor, &MonitorScreen::cloneRequested, this, &MainWindow::cloneRun);
    connect(m_monitor, &MonitorScreen::newRunRequested, this, [this] { go(NewRun); });
    connect(m_monitor, &MonitorScreen::saved, m_toast, &Toast::tell);
    connect(m_monitor, &MonitorScreen::saveFailed, m_toast, &Toast::warn);
    connect(m_newRun, &experiment::NewRunScreen::started, this, [this](const QString &folder) {
        m_workspace->refresh();
        openMonitor(folder);
    });
    connect(m_firstRun, &FirstRunPage::demoRequested, this, [this] { openPreset(QStringLiteral("demo")); });
    connect(m_firstRun, &FirstRunPage::imagesChosen, this, [this](const QString &folder) {
        go(NewRun);
        m_newRun->useFolder(folder);
    });
    connect(m_firstRun, &FirstRunPage::runsFolderChosen, this, &MainWindow::setRunsFolder);
    connect(m_workspace.get(), &session::Workspace::changed, this, &MainWindow::runsChanged);
    connect(m_workspace.get(), &session::Workspace::firstRead, this, [this] {
        m_read = true;
        runsChanged();
    });
}

void MainWindow::runsChanged()
{
    const auto &runs = m_workspace->runs();
    const bool active =
        std::any_of(runs.begin(), runs.end(), [](const session::RunSummary &run) { return RunActions::canStop(run); });
    m_rail->button(Monitor)->setActive(active);
    if (m_place == Runs) go(Runs);
}

void MainWindow::go(Place place)
{
    const bool arrives = place != m_place || m_stack->currentIndex() != int(place);
    m_place = place;
    m_rail->setCurrent(place);
    QWidget *page = m_stack->widget(place);
    if (place == Runs && m_read && m_workspace->runs().empty()) page = m_firstRun;
    const QString title = static_cast<Screen *>(m_stack->widget(place))->title();
    setWindowTitle(title + QStringLiteral(" – Parallax"));
    if (!arrives && m_stack->currentWidget() == page) return;
    m_stack->setCurrentWidget(page);
    if (auto *screen = qobject_cast<Screen *>(page)) screen->activate();
}

void MainWindow::openMonitor(const QString &runFolder)
{
    m_monitor->openRun(runFolder);
    go(Monitor);
}

void MainWindow::openEmbeddings(const QString &runFolder, int epoch)
{
    m_embeddings->openRun(runFolder, epoch);
    go(Embeddings);
}

void MainWindow::openPreset(const QString &name)
{
    go(NewRun);
    m_newRun->loadPreset(name);
}

void MainWindow::cloneRun(const QString &runFolder)
{
    go(NewRun);
    m_newRun->cloneRun(runFolder);
}

void MainWindow::chooseRunsFolder()
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of runs"), m_workspace->folder());
    if (!folder.isEmpty()) setRunsFolder(folder);
}

void MainWindow::setRunsFolder(const QString &folder)
{
    if (QDir(folder) == QDir(m_workspace->folder())) return;
    // The page that asked for this is still in the middle of its signal: it goes later, and what it shows with it.
    QWidget *old = takeCentralWidget();
    old->hide();
    m_workspace.release()->setParent(old);
    old->deleteLater();
    m_read = false;
    m_workspace = std::make_unique<session::Workspace>(folder);
    makeScreens();
}

const session::RunSummary *MainWindow::commandRun() const
{
    if (m_place == Runs) return m_runs->selected();
    return m_monitor->run().isEmpty() ? nullptr : m_workspace->find(m_monitor->run());
}

void MainWindow::restoreWindow()
{
    const QByteArray geometry = QSettings().value(geometryKey).toByteArray();
    if (geometry.isEmpty() || !restoreGeometry(geometry)) resize(1440, 900);
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    // Training goes on without the studio: nothing to ask.
    QSettings().setValue(geometryKey, saveGeometry());
    QMainWindow::closeEvent(event);
}

} // namespace parallax::ui
