// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/chartgrid.h"

#include "core/base/atomicfile.h"
#include "core/runs/runfolder.h"
#include "core/session/qtconvert.h"
#include "core/session/runname.h"
#include "ui/monitor/chartcatalogue.h"
#include "ui/monitor/pointpopover.h"
#include "ui/runs/runchoices.h"
#include "ui/widgets/chartcard.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/icons.h"

#include <QDir>
#include <QFileDialog>
#include <QGridLayout>
#include <QLocale>
#include <QMenu>
#include <QScrollArea>
#include <QSettings>
#include <QToolButton>

#include <algorithm>
#include <array>
#include <cmath>

namespace parallax::ui {

namespace {

constexpr int threeColumnsFrom = 1180; ///< px of this widget: windows from 1280
constexpr int cardMinimum = 176;       ///< px of height; below the page scrolls
const QString shownKey = QStringLiteral("monitor/charts");

/// The same marks without their words.
std::vector<ChartEvent> unlabelled(std::vector<ChartEvent> events)
{
    for (ChartEvent &event : events) event.label.clear();
    return events;
}

} // namespace

ChartGrid::ChartGrid(QWidget *parent)
    : QWidget(parent), m_shown(QSettings().value(shownKey, shownAtFirst()).toStringList()), m_scroll(new QScrollArea),
      m_page(new QWidget), m_grid(new QGridLayout(m_page)), m_popover(new PointPopover(this))
{
    m_shown.removeDuplicates();
    if (m_shown.isEmpty()) m_shown = shownAtFirst();
    connect(m_popover, &PointPopover::openRequested, this,
            [this](int epoch) { Q_EMIT embeddingsRequested(m_run.folder, epoch); });
    m_page->setProperty("role", QStringLiteral("page"));
    m_grid->setContentsMargins(16, 8, 16, 8);
    m_grid->setSpacing(8);
    m_scroll->setWidget(m_page);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->viewport()->setAutoFillBackground(false);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_scroll);
    arrange();
}

ChartCard *ChartGrid::card(const QString &chart)
{
    const auto found = m_cards.find(chart);
    return found != m_cards.end() ? found->second : m_cards[chart] = makeCard(chart);
}

ChartCard *ChartGrid::makeCard(const QString &chart)
{
    auto *card = new ChartCard(chartTitle(chart), {}, m_page);
    card->setObjectName(chart);
    card->setMinimumHeight(Theme::instance().scaled(cardMinimum));
    auto *more = makeIconButton(QStringLiteral("more"), tr("Chart"), card);
    more->setIconSize({14, 14});
    auto *menu = new QMenu(more);
    connect(menu, &QMenu::aboutToShow, this, [this, menu, chart] { fillCardMenu(menu, chart); });
    more->setMenu(menu);
    more->setPopupMode(QToolButton::InstantPopup);
    card->addHeadWidget(more);
    card->chart()->setXScale(scaleOf(m_mode));
    card->chart()->setSmoothing(m_smoothing);
    if (chart == QLatin1String("loss")) card->chart()->setLogY(m_logY);
    if (!m_cards.empty() && !m_group.following()) {
        const auto [from, to] = m_cards.begin()->second->chart()->xRange();
        card->chart()->setXRange(from, to);
    }
    m_group.add(card->chart());
    connect(card->chart(), &Chart::pointClicked, this,
            [this](std::size_t, double x, double y, const QPoint &at) { pointClicked(x, y, at); });
    return card;
}

std::vector<ChartCard *> ChartGrid::cards() const
{
    std::vector<ChartCard *> result;
    for (const QString &chart : m_shown)
        if (const auto found = m_cards.find(chart); found != m_cards.end()) result.push_back(found->second);
    return result;
}

void ChartGrid::setShown(const QStringList &charts)
{
    m_popover->hide();
    m_shown = charts;
    if (!m_shown.contains(m_enlarged)) m_enlarged.clear();
    QSettings().setValue(shownKey, m_shown);
    m_columns = 0;
    arrange();
    fill();
}

void ChartGrid::move(const QString &chart, int by)
{
    QStringList charts = m_shown;
    const auto from = charts.indexOf(chart), to = from + by;
    if (from < 0 || to < 0 || to >= charts.size()) return;
    charts.move(from, to);
    setShown(charts);
}

void ChartGrid::fillMenu(QMenu *menu)
{
    menu->clear();
    QStringList all = m_data ? chartsOf(*m_data) : standardCharts();
    for (const QString &chart : m_shown)
        if (!all.contains(chart)) all << chart; // of another run; it can still be hidden
    for (const QString &chart : std::as_const(all)) {
        QAction *action = menu->addAction(menuText(chartTitle(chart)));
        action->setCheckable(true);
        action->setChecked(m_shown.contains(chart));
        action->setEnabled(m_shown != QStringList{chart}); // the last one stays
        connect(action, &QAction::toggled, this, [this, chart](bool on) {
            QStringList charts = m_shown;
            charts.removeAll(chart);
            if (on) charts << chart;
            setShown(charts);
        });
    }
    menu->addSeparator();
    connect(menu->addAction(tr("First choice again")), &QAction::triggered, this, [this] { setShown(shownAtFirst()); });
}

void ChartGrid::fillCardMenu(QMenu *menu, const QString &chart)
{
    menu->clear();
    const auto place = m_shown.indexOf(chart);
    connect(menu->addAction(icon(QStringLiteral("expand")), m_enlarged.isEmpty() ? tr("Enlarge") : tr("All charts")),
            &QAction::triggered, this, [this, chart] { enlarge(chart); });
    menu->addSeparator();
    QAction *left = menu->addAction(icon(QStringLiteral("left")), tr("Move before"));
    QAction *right = menu->addAction(icon(QStringLiteral("right")), tr("Move behind"));
    left->setEnabled(place > 0);
    right->setEnabled(place + 1 < m_shown.size());
    connect(left, &QAction::triggered, this, [this, chart] { move(chart, -1); });
    connect(right, &QAction::triggered, this, [this, chart] { move(chart, 1); });
    menu->addSeparator();
    connect(menu->addAction(icon(QStringLiteral("image")), tr("Save picture…")), &QAction::triggered, this, [this, chart] {
        ask(chart, tr("Save picture"), tr("Picture (*.png);;Drawing (*.svg);;Document (*.pdf)"),
            [&](const QString &file) { return savePicture(chart, file); });
    });
    for (const bool visible : {true, false}) {
        QAction *action =
            menu->addAction(icon(QStringLiteral("export")), visible ? tr("Save points in view…") : tr("Save all points…"));
        connect(action, &QAction::triggered, this, [this, chart, visible] {
            ask(chart, tr("Save points"), tr("Table (*.csv)"),
                [&](const QString &file) { return savePoints(chart, file, visible); });
        });
    }
    menu->addSeparator();
    QAction *hide = menu->addAction(icon(QStringLiteral("eye")), tr("Hide"));
    hide->setEnabled(m_shown.size() > 1);
    connect(hide, &QAction::triggered, this, [this, chart] {
        QStringList charts = m_shown;
        charts.removeAll(chart);
        setShown(charts);
    });
}

void ChartGrid::ask(const QString &chart, const QString &title, const QString &filter,
                    const std::function<Status(const QString &file)> &save)
{
    QString ending = filter.section(QStringLiteral("*."), 1, 1).section(QLatin1Char(')'), 0, 0);
    const QString proposal = session::runName(m_run) + QLatin1Char('-') + chart + QLatin1Char('.') + ending;
    const QString file = QFileDialog::getSaveFileName(this, title, QDir::home().filePath(proposal), filter);
    if (file.isEmpty()) return;
    if (const Status status = save(file); status)
        Q_EMIT saved(tr("Saved as %1").arg(file));
    else
        Q_EMIT saveFailed(session::toQString(status.error().message()));
}

Status ChartGrid::savePicture(const QString &chart, const QString &file)
{
    if (!m_data) return Error{"There is nothing to draw", {}, "Open a run first"};
    // A picture goes to papers and other machines: its numbers are in C form, like those of every file.
    const QLocale before;
    QLocale::setDefault(QLocale::c());
    fillCard(chart);
    Status status = card(chart)->chart()->savePicture(file, card(chart)->title());
    QLocale::setDefault(before);
    fillCard(chart);
    return status;
}

Status ChartGrid::savePoints(const QString &chart, const QString &file, bool visibleOnly)
{
    constexpr std::array names{"step", "epoch", "seconds", "unix_time"}; // of XMode
    return writeFileAtomic(session::toPath(file), card(chart)->chart()->csv(names[std::size_t(m_mode)], visibleOnly));
}

void ChartGrid::clear()
{
    m_popover->hide();
    m_data.reset();
    for (const auto &entry : m_cards) {
        Chart *chart = entry.second->chart();
        chart->setCursor(std::nullopt);
        chart->setSeries({});
        chart->setEvents({});
        chart->setReferences({});
    }
    m_group.fit();
}

void ChartGrid::show(const std::shared_ptr<const session::RunData> &data, const session::RunSummary &run)
{
    m_data = data;
    m_run = run;
    fill();
}

void ChartGrid::setXMode(XMode mode)
{
    m_mode = mode;
    m_popover->hide();
    for (const auto &entry : m_cards) entry.second->chart()->setXScale(scaleOf(mode));
    // Steps and epochs share a scale but not a range.
    m_group.fit();
    fill();
}

void ChartGrid::setSmoothing(double weight)
{
    m_smoothing = weight;
    for (const auto &entry : m_cards) entry.second->chart()->setSmoothing(weight);
}

void ChartGrid::setLogY(bool on)
{
    m_logY = on;
    if (const auto found = m_cards.find(QStringLiteral("loss")); found != m_cards.end()) found->second->chart()->setLogY(on);
}

void ChartGrid::fill()
{
    if (!m_data) return;
    for (const QString &chart : std::as_const(m_shown)) fillCard(chart);
}

void ChartGrid::fillCard(const QString &name)
{
    ChartContent content = chartContent(name, *m_data, m_run, m_mode);
    // Checkpoints belong under what is judged by them; resumes and failures concern every curve. Words are said once, on the
    // first chart.
    std::vector<ChartEvent> events = eventsOf(*m_data, m_mode);
    if (name != m_shown.front()) events = unlabelled(std::move(events));
    if (!content.checkpoints)
        std::erase_if(events, [](const ChartEvent &event) {
            return event.kind == ChartEvent::Kind::Checkpoint || event.kind == ChartEvent::Kind::Evaluation;
        });
    ChartCard *where = card(name);
    where->setTitle(content.title);
    where->setSubtitle(content.subtitle);
    Chart *chart = where->chart();
    chart->setDecimals(content.decimals);
    chart->setFromZero(content.fromZero);
    chart->setReferences(std::move(content.references));
    chart->setSeries(std::move(content.series));
    chart->setEvents(std::move(events));
    chart->setLive(m_run.record.state == runs::State::Running);
}

void ChartGrid::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    m_popover->hide();
    arrange();
}

void ChartGrid::arrange()
{
    const bool alone = !m_enlarged.isEmpty();
    const int columns = alone ? 1 : width() >= Theme::instance().scaled(threeColumnsFrom) ? 3 : 2;
    if (columns == m_columns) return;
    m_columns = columns;
    for (const auto &[name, each] : m_cards) {
        m_grid->removeWidget(each);
        each->setVisible(alone ? name == m_enlarged : m_shown.contains(name));
    }
    const int rows = std::max(m_grid->rowCount(), int(m_shown.size()));
    for (int i = 0; i < 3; ++i) m_grid->setColumnStretch(i, i < columns ? 1 : 0);
    for (int i = 0; i < rows; ++i) m_grid->setRowStretch(i, 0);
    int place = 0;
    for (const QString &name : std::as_const(m_shown)) {
        if (alone && name != m_enlarged) continue;
        m_grid->setRowStretch(place / columns, 1);
        m_grid->addWidget(card(name), place / columns, place % columns);
        card(name)->show();
        ++place;
    }
}

void ChartGrid::enlarge(const QString &chart)
{
    m_popover->hide();
    m_enlarged = m_enlarged.isEmpty() ? chart : QString();
    m_columns = 0;
    arrange();
}

void ChartGrid::pointClicked(double x, double y, const QPoint &at)
{
    const Chart *chart = card(QStringLiteral("knn"))->chart();
    const ChartSeries &line = chart->series().front();
    const auto found = std::lower_bound(line.x.begin(), line.x.end(), x);
    const auto series = m_data->series.find("knn_top1");
    if (found == line.x.end() || series == m_data->series.end()) return;
    const auto index = std::size_t(found - line.x.begin());
    const int epoch = int(std::lround(series->second.epoch[index]));
    const double before = index > 0 ? line.y[index - 1] : std::nan("");
    const std::vector<int> stored = runs::RunFolder(session::toPath(m_run.folder)).listEmbeddings();
    m_popover->showPoint(epoch, y, y - before, std::find(stored.begin(), stored.end(), epoch) != stored.end(),
                         chart->mapTo(this, at));
}

} // namespace parallax::ui
