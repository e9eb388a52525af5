// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/chartgrid.h"

#include "core/runs/runfolder.h"
#include "core/session/qtconvert.h"
#include "ui/monitor/pointpopover.h"
#include "ui/widgets/chartcard.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

#include <QGridLayout>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace parallax::ui {

namespace {
constexpr int threeColumnsFrom = 1180; ///< px of this widget: windows from 1280
constexpr int cardMinimum = 176;       ///< px of height; below the page scrolls

/// The same marks without their words.
std::vector<ChartEvent> unlabelled(std::vector<ChartEvent> events)
{
    for (ChartEvent &event : events) event.label.clear();
    return events;
}

} // namespace

ChartGrid::ChartGrid(QWidget *parent)
    : QWidget(parent), m_scroll(new QScrollArea), m_page(new QWidget), m_grid(new QGridLayout(m_page)),
      m_popover(new PointPopover(this))
{
    const std::pair<QString, QString> titles[PlaceCount] = {{tr("Loss"), {}},
                                                            {tr("kNN accuracy"), {}},
                                                            {tr("Memory"), tr("resident, GB")},
                                                            {tr("Throughput"), tr("images / s")},
                                                            {tr("Step time"), tr("ms")},
                                                            {tr("Health"), {}}};
    for (const auto &[title, unit] : titles) {
        auto *card = new ChartCard(title, unit, m_page);
        card->setMinimumHeight(Theme::instance().scaled(cardMinimum));
        auto *larger = makeIconButton(QStringLiteral("expand"), tr("Enlarge or back"), card);
        larger->setIconSize({14, 14});
        card->addHeadWidget(larger);
        connect(larger, &QToolButton::clicked, this, [this, card] { enlarge(card); });
        m_group.add(card->chart());
        m_cards.push_back(card);
    }
    m_cards[Knn]->chart()->setDecimals(4);
    m_cards[Memory]->chart()->setDecimals(2);
    m_cards[Memory]->chart()->setFromZero(true);
    m_cards[Throughput]->chart()->setDecimals(0);
    m_cards[Throughput]->chart()->setFromZero(true);
    m_cards[StepTime]->chart()->setDecimals(0);
    m_cards[StepTime]->chart()->setFromZero(true);
    connect(m_cards[Knn]->chart(), &Chart::pointClicked, this,
            [this](std::size_t, double x, double y, const QPoint &at) { pointClicked(x, y, at); });
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

void ChartGrid::clear()
{
    m_popover->hide();
    m_data.reset();
    for (ChartCard *card : m_cards) {
        card->chart()->setCursor(std::nullopt);
        card->chart()->setSeries({});
        card->chart()->setEvents({});
        card->chart()->setReferences({});
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
    for (ChartCard *card : m_cards) card->chart()->setXScale(scaleOf(mode));
    // Steps and epochs share a scale but not a range.
    m_group.fit();
    fill();
}

void ChartGrid::setSmoothing(double weight)
{
    for (ChartCard *card : m_cards) card->chart()->setSmoothing(weight);
}

void ChartGrid::setLogY(bool on) { m_cards[Loss]->chart()->setLogY(on); }

void ChartGrid::fill()
{
    if (!m_data) return;
    fillLoss();
    fillKnn();
    fillMemory();
    fillSpeed();
    fillHealth();
    const bool live = m_run.record.state == runs::State::Running;
    const std::vector<ChartEvent> all = eventsOf(*m_data, m_mode);
    // Checkpoints belong under what is judged by them; resumes and failures concern every curve.
    // Words are said once, on the first chart.
    std::vector<ChartEvent> breaks = unlabelled(all);
    std::erase_if(breaks, [](const ChartEvent &event) { return event.kind == ChartEvent::Kind::Checkpoint; });
    for (int place = 0; place < PlaceCount; ++place) {
        m_cards[std::size_t(place)]->chart()->setEvents(place == Loss ? all : place == Knn ? unlabelled(all) : breaks);
        m_cards[std::size_t(place)]->chart()->setLive(live);
    }
}

void ChartGrid::fillLoss()
{
    std::vector<ChartSeries> lines;
    if (auto line = lineOf(*m_data, "loss", m_mode)) {
        line->name = tr("train");
        lines.push_back(std::move(*line));
    }
    const double chance = planned(*m_data, "chance_loss");
    std::vector<ReferenceLine> references;
    if (std::isfinite(chance)) references.push_back({chance, tr("chance %1").arg(formatMetric(chance)), true});
    m_cards[Loss]->setSubtitle(m_run.method);
    m_cards[Loss]->chart()->setReferences(std::move(references));
    m_cards[Loss]->chart()->setSeries(std::move(lines));
}

void ChartGrid::fillKnn()
{
    std::vector<ChartSeries> lines;
    std::vector<ReferenceLine> references;
    QString note;
    if (auto line = lineOf(*m_data, "knn_top1", m_mode)) {
        line->name = tr("top 1");
        line->smooth = false;
        line->dots = true;
        lines.push_back(std::move(*line));
        const double classes = lastOf(*m_data, "classes"), k = lastOf(*m_data, "k");
        QStringList parts;
        if (std::isfinite(k)) parts << tr("k %1").arg(formatCount(k));
        if (classes > 0) parts << tr("%1 classes, chance %2").arg(formatCount(classes), formatFixed(1 / classes, 2));
        note = parts.join(QStringLiteral(", "));
    }
    if (std::isfinite(m_run.untrainedKnn))
        references.push_back({m_run.untrainedKnn, tr("untrained %1").arg(formatFixed(m_run.untrainedKnn, 4))});
    m_cards[Knn]->setSubtitle(note);
    m_cards[Knn]->chart()->setReferences(std::move(references));
    m_cards[Knn]->chart()->setSeries(std::move(lines));
}

void ChartGrid::fillMemory()
{
    ChartCard *card = m_cards[Memory];
    constexpr double toGb = 1e-3;
    const bool gpu = onGpu(*m_data);
    std::vector<ChartSeries> lines = rankLines(*m_data, gpu ? "allocated_mb" : "rss_mb", m_mode, toGb);
    std::vector<ReferenceLine> references;
    if (gpu) {
        std::vector<ChartSeries> reserved = rankLines(*m_data, "reserved_mb", m_mode, toGb);
        if (!reserved.empty()) {
            // One line for what the allocator holds: the rank that holds most.
            auto most = std::max_element(reserved.begin(), reserved.end(), [](const ChartSeries &a, const ChartSeries &b) {
                return (a.y.empty() ? 0 : a.y.back()) < (b.y.empty() ? 0 : b.y.back());
            });
            most->name = tr("reserved");
            most->ink = Token::TextMuted;
            most->style = LineStyle::Dashed;
            lines.push_back(std::move(*most));
        }
        const double total = lastOf(*m_data, "device_total_mb/r0") * toGb;
        if (std::isfinite(total)) references.push_back({total, tr("device has %1 GB").arg(formatFixed(total, 1)), true});
    }
    for (ChartSeries &line : lines) line.smooth = false;
    card->setTitle(gpu ? tr("GPU memory") : tr("Memory"));
    card->setSubtitle(gpu ? tr("GB") : tr("resident, GB"));
    card->chart()->setReferences(std::move(references));
    card->chart()->setSeries(std::move(lines));
}

void ChartGrid::fillSpeed()
{
    std::vector<ChartSeries> lines;
    if (auto line = lineOf(*m_data, "images_per_s", m_mode)) {
        const int world = m_run.record.world;
        line->name = world == 1 ? tr("rank 0") : world == 2 ? tr("both ranks") : tr("all ranks");
        line->fill = true;
        lines.push_back(std::move(*line));
    }
    m_cards[Throughput]->chart()->setSeries(std::move(lines));
    m_cards[StepTime]->chart()->setSeries(rankLines(*m_data, "step_ms", m_mode));
}

void ChartGrid::fillHealth()
{
    ChartCard *card = m_cards[Health];
    std::vector<ChartSeries> lines;
    if (auto spread = lineOf(*m_data, "feature_std", m_mode)) {
        card->setTitle(tr("Health"));
        card->setSubtitle(tr("feature std, 0 is collapse"));
        spread->name = tr("std");
        lines.push_back(std::move(*spread));
        card->chart()->setDecimals(4);
    } else if (auto wait = lineOf(*m_data, "data_wait", m_mode, 100)) {
        card->setTitle(tr("Data wait"));
        card->setSubtitle(tr("% of step time"));
        wait->name = tr("waiting");
        lines.push_back(std::move(*wait));
        card->chart()->setDecimals(1);
    }
    card->chart()->setFromZero(true);
    card->chart()->setSeries(std::move(lines));
}

void ChartGrid::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    m_popover->hide();
    arrange();
}

void ChartGrid::arrange()
{
    const int columns = m_enlarged ? 1 : width() >= Theme::instance().scaled(threeColumnsFrom) ? 3 : 2;
    if (columns == m_columns) return;
    m_columns = columns;
    for (ChartCard *card : m_cards) m_grid->removeWidget(card);
    for (int i = 0; i < 3; ++i) {
        m_grid->setColumnStretch(i, i < columns ? 1 : 0);
        m_grid->setRowStretch(i, 0);
    }
    int place = 0;
    for (ChartCard *card : m_cards) {
        card->setVisible(!m_enlarged || card == m_enlarged);
        if (m_enlarged && card != m_enlarged) continue;
        m_grid->setRowStretch(place / columns, 1);
        m_grid->addWidget(card, place / columns, place % columns);
        ++place;
    }
}

void ChartGrid::enlarge(ChartCard *card)
{
    m_popover->hide();
    m_enlarged = m_enlarged ? nullptr : card;
    m_columns = 0;
    arrange();
}

void ChartGrid::pointClicked(double x, double y, const QPoint &at)
{
    const Chart *chart = m_cards[Knn]->chart();
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
