// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/embeddingsscreen.h"

#include "core/base/text.h"
#include "core/runs/runfolder.h"
#include "core/session/job.h"
#include "core/session/runname.h"
#include "ui/embeddings/classmodel.h"
#include "ui/embeddings/epochbar.h"
#include "ui/embeddings/itempanel.h"
#include "ui/embeddings/mapcanvas.h"
#include "ui/embeddings/mapframe.h"
#include "ui/embeddings/thumbs.h"
#include "ui/runs/runchoices.h"
#include "ui/widgets/background.h"
#include "ui/widgets/choicebox.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/page.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QListView>
#include <QPainter>
#include <QPixmap>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace parallax::embeddings {
namespace {

constexpr int shownNeighbours = 24;
constexpr std::size_t listedRuns = 200; ///< newest ones in the list beside the title; Runs opens all others

QIcon runSwatch(int color)
{
    QPixmap pixmap(24, 24);
    pixmap.setDevicePixelRatio(2);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ui::Theme::instance().series(color));
    painter.drawRoundedRect(QRectF(1, 1, 10, 10), 3, 3);
    return QIcon(pixmap);
}

std::vector<int> storedEpochs(const QString &run)
{
    return runs::RunFolder(std::filesystem::path(run.toStdString())).listEmbeddings();
}

QString message(const Error &error) { return QString::fromStdString(text::printable(error.message())); }

} // namespace

EmbeddingsScreen::EmbeddingsScreen(session::Workspace *workspace, QWidget *parent)
    : Screen(tr("Embeddings"), QStringLiteral("embeddings"), parent), m_workspace(workspace),
      m_pages(new QStackedWidget(this)), m_thumbs(new Thumbs(this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHeader());
    column->addWidget(m_pages, 1);
    m_empty = new ui::EmptyState(QStringLiteral("embeddings"), QString(), QString(), this);
    m_compute = m_empty->setAction(tr("Compute embeddings"), true);
    m_pages->addWidget(m_empty);
    m_pages->addWidget(makeMap());
    connect(m_compute, &QPushButton::clicked, this, [this] {
        if (m_job)
            cancelWork();
        else
            computeEmbeddings();
    });
    m_jobClock.setInterval(1000);
    connect(&m_jobClock, &QTimer::timeout, this, [this] {
        if (m_jobRun == m_run)
            m_empty->setTexts(tr("Computing embeddings"),
                              tr("The network looks at every image once. %1 so far.")
                                  .arg(ui::formatDuration(double(m_jobTime.elapsed()) / 1000)));
    });
    connect(m_workspace, &session::Workspace::changed, this, &EmbeddingsScreen::runsChanged);
    connect(m_workspace, &session::Workspace::firstRead, this, &EmbeddingsScreen::runsChanged);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, &EmbeddingsScreen::fillRuns);
    runsChanged();
}

EmbeddingsScreen::~EmbeddingsScreen()
{
    if (m_cancel) *m_cancel = true;
}

QWidget *EmbeddingsScreen::makeHeader()
{
    auto *header = new ui::PageHeader(title(), this);
    m_runs = new ui::ChoiceBox(tr("Run"), header);
    m_runs->setPlaceholderText(tr("None"));
    m_runs->setIconSize({12, 12});
    m_runs->setMinimumWidth(ui::Theme::instance().scaled(200));
    header->addLeft(m_runs);
    header->addLeft(ui::makeLabel(tr("Map"), ui::TextRole::Body, "muted", header));
    m_note = ui::makeLabel(tr("PCA"), ui::TextRole::Body, "", header);
    header->addLeft(m_note);
    connect(m_runs, &QComboBox::activated, this, [this](int index) { openRun(m_runs->itemData(index).toString()); });
    return header;
}

QWidget *EmbeddingsScreen::makeMap()
{
    auto *page = new QWidget(this);
    auto *row = new QHBoxLayout(page);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    auto *left = new QVBoxLayout;
    left->setSpacing(0);
    m_frame = new MapFrame(m_thumbs, page);
    m_epochs = new EpochBar(page);
    left->addWidget(m_frame, 1);
    left->addWidget(m_epochs);
    row->addLayout(left, 1);
    m_panel = new ItemPanel(m_thumbs, page);
    row->addWidget(m_panel);
    connect(m_frame->canvas(), &MapCanvas::clicked, this, &EmbeddingsScreen::choose);
    connect(m_panel, &ItemPanel::chosen, this, &EmbeddingsScreen::choose);
    connect(m_epochs, &EpochBar::epochChosen, this, &EmbeddingsScreen::openEpoch);
    connect(m_frame->classes(), &ClassModel::shownChanged, this, [this] {
        if (m_data) m_panel->setShown(m_frame->classes()->shown(), m_frame->classes()->shownCount());
    });
    return page;
}

void EmbeddingsScreen::resizeEvent(QResizeEvent *event)
{
    Screen::resizeEvent(event);
    const bool narrow = width() < ui::Theme::instance().scaled(1200);
    m_panel->setFixedWidth(ui::Theme::instance().scaled(narrow ? 330 : 420));
}

void EmbeddingsScreen::activate()
{
    fillRuns();
    if (m_run.isEmpty() && !m_workspace->runs().empty()) {
        const auto &runs = m_workspace->runs();
        const auto stored =
            std::find_if(runs.begin(), runs.end(), [](const auto &run) { return !storedEpochs(run.folder).empty(); });
        openRun(stored == runs.end() ? runs.front().folder : stored->folder);
    }
    if (m_data)
        m_frame->canvas()->setFocus();
    else
        m_runs->setFocus();
}

void EmbeddingsScreen::fillRuns()
{
    const QSignalBlocker blocker(m_runs);
    m_runs->clear();
    for (const auto &run : ui::runChoices(m_workspace->runs(), listedRuns))
        m_runs->addItem(runSwatch(run.color), run.text, run.folder);
    int index = m_runs->findData(m_run);
    if (index < 0 && !m_run.isEmpty()) { // an older run, one outside the workspace, or one that was deleted
        const auto *known = m_workspace->find(m_run);
        m_runs->addItem(known ? session::runName(*known) : QFileInfo(m_run).fileName(), m_run);
        index = m_runs->count() - 1;
    }
    m_runs->setCurrentIndex(m_run.isEmpty() ? -1 : index);
    m_runs->setEnabled(m_runs->count() > 0);
    m_runs->updateGeometry();
}

void EmbeddingsScreen::runsChanged()
{
    if (isVisible()) fillRuns(); // else when the page is entered: the list is long, and changes each second while a run goes
    if (m_run.isEmpty()) {
        if (m_workspace->runs().empty())
            showNothing(tr("No runs yet"), tr("Train a network first: its view of your images appears here."), false);
        else if (isVisible())
            activate();
        else
            showNothing(tr("No run is open"), tr("Choose a run above."), false);
        return;
    }
    if (!QFileInfo(m_run).isDir()) {
        if (m_cancel) *m_cancel = true;
        ++m_loadToken;
        showNothing(tr("This run was deleted"), tr("Its folder is gone: %1").arg(QDir::toNativeSeparators(m_run)), false);
        return;
    }
    const auto stored = storedEpochs(m_run);
    if (stored == m_stored) return;
    m_stored = stored;
    if (m_data && std::find(stored.begin(), stored.end(), m_epoch) != stored.end())
        m_epochs->set(m_stored, m_epoch, m_data->scores);
    else
        openRun(m_run);
}

void EmbeddingsScreen::openRun(const QString &folder, int epoch)
{
    m_run = QDir::cleanPath(folder);
    m_stored = storedEpochs(m_run);
    fillRuns();
    if (!QFileInfo(m_run).isDir()) {
        showNothing(tr("This run is not there"), tr("There is no folder %1").arg(QDir::toNativeSeparators(m_run)), false);
        return;
    }
    if (epoch < 0 && !m_stored.empty()) epoch = m_stored.back();
    if (epoch < 0) {
        if (m_cancel) *m_cancel = true;
        ++m_loadToken;
        showNothing(tr("No embeddings yet"),
                    tr("Let this run's newest network look at its images: that gives a map, and each image's nearest "
                       "neighbours."),
                    true);
        return;
    }
    openEpoch(epoch);
}

void EmbeddingsScreen::openEpoch(int epoch)
{
    if (m_cancel) *m_cancel = true;
    m_cancel = std::make_shared<std::atomic<bool>>(false);
    m_epoch = epoch;
    const auto token = ++m_loadToken;
    ++m_searchToken;
    if (!m_data) showNothing(tr("Reading embeddings"), tr("Epoch %L1").arg(epoch), false);
    m_epochs->set(m_stored, m_epoch, m_data ? m_data->scores : std::vector<EpochScore>());
    ui::inBackground(
        this, [run = m_run, epoch, cancel = m_cancel] { return loadMap(run, epoch, cancel.get()); },
        [this, token](const Result<std::shared_ptr<const MapData>> &loaded) {
            if (token != m_loadToken) return;
            if (loaded)
                showData(*loaded);
            else
                showNothing(tr("These embeddings cannot be shown"), message(loaded.error()), true);
        });
}

void EmbeddingsScreen::showData(std::shared_ptr<const MapData> data)
{
    // The same image stays chosen from epoch to epoch: its id tells it, not its place.
    const std::int64_t chosen = m_data ? m_frame->canvas()->chosen() : -1;
    const std::uint64_t id = chosen >= 0 ? m_data->store.items()[std::size_t(chosen)].id : 0;
    m_data = std::move(data);
    m_thumbs->setData(m_data);
    m_panel->setData(m_data);
    m_frame->setData(m_data);
    m_epochs->set(m_stored, m_epoch, m_data->scores);
    m_pages->setCurrentIndex(1);
    const auto &explained = m_data->map.explained;
    m_note->setText(tr("PCA, %L1 % of the variance").arg(qRound((explained[0] + explained[1]) * 100)));
    m_note->setToolTip(tr("Principal components 1 and 2 hold %L1 % and %L2 %.")
                           .arg(explained[0] * 100, 0, 'f', 1)
                           .arg(explained[1] * 100, 0, 'f', 1));
    const auto &items = m_data->store.items();
    const auto same = std::find_if(items.begin(), items.end(), [id](const auto &item) { return item.id == id; });
    choose(chosen >= 0 && same != items.end() ? same - items.begin() : -1);
}

void EmbeddingsScreen::showNothing(const QString &title, const QString &text, bool mayCompute)
{
    m_data.reset();
    m_thumbs->setData(nullptr);
    m_frame->setData(nullptr);
    m_panel->setData(nullptr);
    m_note->setText(tr("PCA"));
    m_note->setToolTip({});
    const bool computing = m_job && m_jobRun == m_run;
    m_empty->setTexts(computing ? tr("Computing embeddings") : title,
                      computing ? tr("The network looks at every image once.") : text);
    m_compute->setVisible(mayCompute || computing);
    m_compute->setEnabled(!m_job || computing);
    m_compute->setText(computing ? tr("Cancel") : tr("Compute embeddings"));
    m_pages->setCurrentIndex(0);
}

void EmbeddingsScreen::computeEmbeddings()
{
    m_job = new session::Job(
        session::Job::Program::Cli,
        {QStringLiteral("embed"), m_run, QStringLiteral("--runs"), m_workspace->folder(), QStringLiteral("--json")}, this);
    m_jobRun = m_run;
    m_jobTime.start();
    m_jobClock.start();
    connect(m_job, &session::Job::succeeded, this, [this](const nlohmann::ordered_json &result) {
        const auto folder = result.find("folder");
        computed(folder != result.end() && folder->is_string() ? QString::fromStdString(folder->get<std::string>())
                                                               : QString());
    });
    connect(m_job, &session::Job::failed, this, [this](const Error &error) {
        cancelWork();
        if (m_run == m_jobRun && !m_data) showNothing(tr("The embeddings could not be computed"), message(error), true);
    });
    showNothing({}, {}, true);
}

void EmbeddingsScreen::computed(const QString &folder)
{
    const QString run = m_jobRun;
    cancelWork();
    if (run != m_run) return;
    // ".../embeddings/epoch-N"
    bool known = false;
    const int epoch = QFileInfo(folder).fileName().section(QLatin1Char('-'), 1).toInt(&known);
    openRun(run, known ? epoch : -1);
}

void EmbeddingsScreen::cancelWork()
{
    if (!m_job) return;
    m_job->disconnect(this);
    m_job->deleteLater();
    m_job = nullptr;
    m_jobClock.stop();
    if (m_jobRun == m_run && !m_data) openRun(m_run);
}

void EmbeddingsScreen::choose(std::int64_t item)
{
    const auto token = ++m_searchToken;
    const bool any = m_data && item >= 0 && item < m_data->count();
    m_frame->canvas()->setChosen(any ? item : -1);
    m_panel->setChosen(any ? item : -1, any);
    if (!any) return;
    ui::inBackground(
        this, [data = m_data, item] { return data->neighbours.nearest(item, shownNeighbours); },
        [this, token, item](const std::vector<embedding::Neighbour> &found) {
            if (token != m_searchToken) return;
            m_frame->canvas()->setChosen(item, found);
            m_panel->setNeighbours(found);
        });
}

} // namespace parallax::embeddings
