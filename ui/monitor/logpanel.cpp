// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/logpanel.h"

#include "ui/monitor/logmodel.h"
#include "ui/monitor/runfigures.h"
#include "ui/widgets/choicebox.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>

#include <algorithm>

namespace parallax::ui {

namespace {
constexpr int rankButtons = 8; ///< more ranks are chosen by a search for their text
}

LogPanel::LogPanel(QWidget *parent)
    : QWidget(parent), m_model(new LogModel(this)), m_filter(new LogFilter(this)), m_view(new QListView)
{
    m_filter->setSourceModel(m_model);
    // Ranks are read one after another: their lines are put in the order of time here.
    m_filter->setSortRole(LogModel::TimeRole);
    m_filter->sort(0);
    m_view->setModel(m_filter);
    m_view->setItemDelegate(new LogDelegate(m_view));
    m_view->setUniformItemSizes(true);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->setAccessibleName(tr("Log"));
    auto *copyAction = new QAction(tr("Copy"), m_view);
    copyAction->setShortcut(QKeySequence::Copy);
    copyAction->setShortcutContext(Qt::WidgetShortcut);
    m_view->addAction(copyAction);
    connect(copyAction, &QAction::triggered, this, &LogPanel::copy);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 1, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeHead());
    column->addWidget(m_view, 1);
    connect(m_filter, &QAbstractItemModel::rowsInserted, this, [this] {
        if (m_follow->isChecked()) scrollToEnd();
    });
    connect(m_view->verticalScrollBar(), &QAbstractSlider::actionTriggered, this, [this] {
        // By hand: following goes on once the end is reached again.
        const QScrollBar *bar = m_view->verticalScrollBar();
        m_follow->setChecked(bar->sliderPosition() >= bar->maximum());
    });
}

QWidget *LogPanel::makeHead()
{
    auto *head = new QWidget;
    head->setFixedHeight(Theme::instance().scaled(36));
    auto *row = new QHBoxLayout(head);
    row->setContentsMargins(24, 0, 16, 0);
    row->setSpacing(8);
    auto *title = makeLabel(tr("Log"), TextRole::State);
    row->addWidget(new IconLabel(QStringLiteral("terminal"), Token::TextSecondary, 14));
    row->addWidget(title);
    row->addStretch(1);
    m_ranks = new SegmentedControl;
    connect(m_ranks, &SegmentedControl::currentChanged, this, [this](int index) { m_filter->setRank(index - 1); });
    m_level = new ChoiceBox;
    m_level->setProperty("compact", true);
    m_level->setFont(textFont(TextRole::Table));
    m_level->addItems({tr("Info"), tr("Warnings"), tr("Errors")});
    m_level->setFixedWidth(Theme::instance().scaled(104));
    m_level->setAccessibleName(tr("Least level"));
    connect(m_level, &QComboBox::currentIndexChanged, this, [this](int index) { m_filter->setLevel(index); });
    m_search = new SearchField(tr("Search log"), true);
    m_search->setFixedWidth(Theme::instance().scaled(176));
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString &text) { m_filter->setText(text); });
    m_follow = makeButton(tr("Follow"), QStringLiteral("down"), ButtonKind::Quiet, true);
    m_follow->setCheckable(true);
    m_follow->setChecked(true);
    connect(m_follow, &QPushButton::toggled, this, [this](bool on) {
        m_follow->setText(on ? tr("Following") : tr("Follow"));
        if (on) scrollToEnd();
    });
    m_follow->setText(tr("Following"));
    for (QWidget *widget : std::initializer_list<QWidget *>{m_ranks, m_level, m_search, m_follow}) row->addWidget(widget);
    return head;
}

void LogPanel::show(const std::shared_ptr<const session::RunData> &data)
{
    if (data)
        setRanks(data->record.world);
    else
        m_follow->setChecked(true); // another run begins at its end again
    m_model->setLines(data ? logLines(*data) : std::vector<session::LogLine>());
    if (m_follow->isChecked()) scrollToEnd();
}

void LogPanel::setRanks(int world)
{
    if (world == m_world) return;
    m_world = world;
    m_ranks->clear();
    m_filter->setRank(-1);
    m_ranks->setVisible(world > 1 && world <= rankButtons);
    m_ranks->addSegment(tr("All ranks"));
    for (int rank = 0; rank < std::min(world, rankButtons); ++rank) m_ranks->addSegment(formatCount(rank));
}

void LogPanel::showFirstError()
{
    m_ranks->setCurrent(0);
    m_level->setCurrentIndex(0);
    m_search->clear();
    for (int row = 0; row < m_filter->rowCount(); ++row) {
        const QModelIndex index = m_filter->index(row, 0);
        if (LogModel::severity(index.data(LogModel::LevelRole).toString()) < 2) continue;
        m_follow->setChecked(false);
        m_view->scrollTo(index, QAbstractItemView::PositionAtCenter);
        return;
    }
}

void LogPanel::scrollToEnd() { m_view->scrollToBottom(); }

void LogPanel::copy()
{
    QModelIndexList rows = m_view->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    QStringList lines;
    for (const QModelIndex &index : rows)
        lines << QStringLiteral("r%1 %2 %3")
                     .arg(index.data(LogModel::RankRole).toInt())
                     .arg(index.data(LogModel::LevelRole).toString(), index.data().toString());
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

void LogPanel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), color(Token::Panel));
    painter.fillRect(QRect(0, 0, width(), 1), color(Token::LineStrong));
    const int head = Theme::instance().scaled(36);
    painter.fillRect(QRect(0, head, width(), 1), color(Token::Line));
}

} // namespace parallax::ui
