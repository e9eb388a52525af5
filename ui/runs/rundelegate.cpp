// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/rundelegate.h"

#include "ui/runs/runtablemodel.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace parallax::ui {

using session::RunSummary;

namespace {

constexpr int turnMs = 66;     // fifteen pictures a second: a slow turn needs no more
constexpr int roundMs = 1'600; // a whole turn

bool isTurning(const RunSummary &run) { return run.record.state == runs::State::Running && run.problem.isEmpty(); }

} // namespace

void RunDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const RunSummary *run = RunTableModel::summary(index);
    if (!run) return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const auto *table = qobject_cast<const RunTable *>(option.widget);
    const bool hovered = table && table->hoveredRow() == index.row();
    const Token fill = option.state & QStyle::State_Selected ? Token::Selection : hovered ? Token::Hover : Token::Panel;
    painter->fillRect(option.rect, color(fill));
    painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), color(Token::Line));
    const QRectF area = QRectF(option.rect).adjusted(8, 0, -8, -1);
    const QString text = index.data().toString();
    painter->setFont(textFont(TextRole::Table));
    painter->setPen(color(Token::Text));
    switch (index.column()) {
    case RunTableModel::State:
        paintState(painter, area.adjusted(16, 0, 0, 0), *run, text, table ? table->turned() : 0);
        break;
    case RunTableModel::Name: paintName(painter, area, *run, text); break;
    case RunTableModel::Loss: paintSparkline(painter, area, *run); break;
    default:
        if (!RunTableModel::isNumber(index.column())) {
            painter->setPen(color(Token::TextSecondary));
            painter->drawText(area, Qt::AlignVCenter | Qt::AlignLeft,
                              painter->fontMetrics().elidedText(text, Qt::ElideRight, int(area.width())));
            break;
        }
        if (index.data(RunTableModel::BestRole).toBool()) {
            QFont strong = painter->font();
            strong.setWeight(QFont::DemiBold);
            painter->setFont(strong);
            painter->setPen(color(Token::Ok));
        }
        drawTabular(painter, area, text, Qt::AlignRight);
    }
    painter->restore();
}

void RunDelegate::paintState(QPainter *painter, const QRectF &area, const RunSummary &run, const QString &text,
                             double turned) const
{
    StateLook look = stateLook(run.record.state);
    if (!run.problem.isEmpty()) look = {QStringLiteral("alert"), text, Token::Warn, Token::WarnSoft, {}};
    const QRectF place(area.left(), area.top(), 16, area.height());
    if (isTurning(run)) { // the ring turns around the mark
        drawIcon(painter, place, QStringLiteral("running-ring"), 16, color(look.color), turned);
        drawIcon(painter, place, QStringLiteral("running-mark"), 16, color(look.color));
    } else {
        drawIcon(painter, place, look.icon, 16, color(look.color));
    }
    painter->setFont(textFont(TextRole::State));
    painter->setPen(color(look.color));
    painter->drawText(area.adjusted(22, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, text);
}

void RunDelegate::paintName(QPainter *painter, const QRectF &area, const RunSummary &run, const QString &text) const
{
    const QRectF swatch(area.left(), area.center().y() - 5, 10, 10);
    const bool waiting = run.record.state == runs::State::Queued;
    painter->setPen(waiting ? QPen(color(Token::InputLine), 1) : QPen(Qt::NoPen));
    painter->setBrush(waiting ? QBrush(Qt::NoBrush) : QBrush(Theme::instance().series(run.record.color)));
    painter->drawRoundedRect(waiting ? swatch.adjusted(0.5, 0.5, -0.5, -0.5) : swatch, 3, 3);
    painter->setFont(textFont(TextRole::State));
    painter->setPen(color(Token::Text));
    const QRectF rest = area.adjusted(18, 0, 0, 0);
    painter->drawText(rest, Qt::AlignVCenter | Qt::AlignLeft,
                      painter->fontMetrics().elidedText(text, Qt::ElideMiddle, int(rest.width())));
}

void RunDelegate::paintSparkline(QPainter *painter, const QRectF &area, const RunSummary &run) const
{
    const std::vector<float> &line = run.lossLine;
    if (line.size() < 2) return;
    float low = 0, high = 0;
    bool any = false;
    for (const float v : line) {
        if (!std::isfinite(v)) continue;
        low = any ? std::min(low, v) : v;
        high = any ? std::max(high, v) : v;
        any = true;
    }
    if (!any) return;
    // As long as the run is far, so that unfinished runs are seen to be short.
    const double done = run.steps > 0 ? std::clamp(double(run.step) / double(run.steps), 0.05, 1.0) : 1.0;
    const QRectF plot = area.adjusted(0, 7, -(1 - done) * area.width(), -7);
    const double span = high > low ? high - low : 1;
    QPolygonF points;
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(Theme::instance().series(run.record.color), 1.25, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (!std::isfinite(line[i])) {
            painter->drawPolyline(points);
            points.clear();
            continue;
        }
        points << QPointF(plot.left() + plot.width() * double(i) / double(line.size() - 1),
                          plot.bottom() - plot.height() * (line[i] - low) / span);
    }
    painter->drawPolyline(points);
}

QSize RunDelegate::sizeHint(const QStyleOptionViewItem &, const QModelIndex &index) const
{
    const QFontMetricsF metrics(textFont(TextRole::Table));
    return {int(metrics.horizontalAdvance(index.data().toString())) + 40, Theme::instance().scaled(32)};
}

RunTable::RunTable(QWidget *parent) : QTableView(parent)
{
    setMouseTracking(true);
    setShowGrid(false);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTabKeyNavigation(false);
    setWordWrap(false);
    setCornerButtonEnabled(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(Theme::instance().scaled(32));
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setFixedHeight(Theme::instance().scaled(32));
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setFont(textFont(TextRole::Table));
    horizontalHeader()->setSectionsMovable(true);
    connect(this, &QAbstractItemView::doubleClicked, this, &RunTable::opened);
    m_turning.setInterval(turnMs);
    connect(&m_turning, &QTimer::timeout, this, &RunTable::turn);
    m_clock.start();
}

double RunTable::turned() const { return double(m_clock.elapsed() % roundMs) * 360 / roundMs; }

std::vector<QModelIndex> RunTable::runningStates() const
{
    std::vector<QModelIndex> cells;
    const int first = rowAt(0), below = rowAt(viewport()->height() - 1);
    if (!isVisible() || first < 0 || isColumnHidden(RunTableModel::State)) return cells;
    for (int row = first, last = below < 0 ? model()->rowCount() - 1 : below; row <= last; ++row) {
        const QModelIndex cell = model()->index(row, RunTableModel::State);
        const RunSummary *run = RunTableModel::summary(cell);
        if (run && ui::isTurning(*run)) cells.push_back(cell);
    }
    return cells;
}

void RunTable::turn()
{
    const auto cells = runningStates();
    for (const QModelIndex &cell : cells) viewport()->update(visualRect(cell));
    if (cells.empty()) m_turning.stop(); // until one is painted again
}

void RunTable::paintEvent(QPaintEvent *event)
{
    QTableView::paintEvent(event);
    if (!m_turning.isActive() && !runningStates().empty()) m_turning.start();
}

void RunTable::setHovered(int row)
{
    if (row == m_hovered) return;
    for (const int each : {m_hovered, row})
        if (each >= 0) viewport()->update(0, rowViewportPosition(each), viewport()->width(), rowHeight(each));
    m_hovered = row;
}

void RunTable::mouseMoveEvent(QMouseEvent *event)
{
    setHovered(rowAt(event->pos().y()));
    QTableView::mouseMoveEvent(event);
}

void RunTable::leaveEvent(QEvent *event)
{
    setHovered(-1);
    QTableView::leaveEvent(event);
}

void RunTable::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Space) {
        Q_EMIT previewToggled();
        return;
    }
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentIndex().isValid()) {
        Q_EMIT opened(currentIndex());
        return;
    }
    QTableView::keyPressEvent(event);
}

} // namespace parallax::ui
