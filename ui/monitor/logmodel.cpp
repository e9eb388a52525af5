// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/monitor/logmodel.h"

#include "ui/widgets/format.h"

#include <QPainter>

#include <algorithm>

namespace parallax::ui {

int LogModel::rowCount(const QModelIndex &parent) const { return parent.isValid() ? 0 : int(m_lines.size()); }

QVariant LogModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const session::LogLine &line = m_lines[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole: return line.text;
    case TimeRole: return line.t;
    case RankRole: return line.rank;
    case LevelRole: return line.level;
    case Qt::ToolTipRole: return line.text.size() > 120 ? line.text : QString();
    default: return {};
    }
}

void LogModel::setLines(std::vector<session::LogLine> lines)
{
    const std::size_t before = m_lines.size(), now = lines.size();
    const auto same = [](const session::LogLine &a, const session::LogLine &b) { return a.t == b.t && a.text == b.text; };
    // The oldest lines of a very long log are dropped, and a slow rank tells late: then nothing stands where it did.
    const bool wentOn = before > 0 && now >= before && std::equal(m_lines.begin(), m_lines.end(), lines.begin(), same);
    if (wentOn && now == before) return;
    if (wentOn) {
        beginInsertRows({}, int(before), int(now) - 1);
        m_lines = std::move(lines);
        endInsertRows();
        return;
    }
    beginResetModel();
    m_lines = std::move(lines);
    endResetModel();
}

int LogModel::severity(const QString &level)
{
    return level == QLatin1String("error") ? 2 : level == QLatin1String("warning") ? 1 : 0;
}

void LogFilter::setLevel(int severity)
{
    m_level = severity;
    invalidateFilter();
}

void LogFilter::setRank(int rank)
{
    m_rank = rank;
    invalidateFilter();
}

void LogFilter::setText(const QString &text)
{
    m_text = text;
    invalidateFilter();
}

bool LogFilter::filterAcceptsRow(int row, const QModelIndex &parent) const
{
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    return (m_rank < 0 || index.data(LogModel::RankRole).toInt() == m_rank) &&
        LogModel::severity(index.data(LogModel::LevelRole).toString()) >= m_level &&
        (m_text.isEmpty() || index.data().toString().contains(m_text, Qt::CaseInsensitive));
}

void LogDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const QString level = index.data(LogModel::LevelRole).toString();
    const int severity = LogModel::severity(level), rank = index.data(LogModel::RankRole).toInt();
    painter->save();
    if (option.state & QStyle::State_Selected)
        painter->fillRect(option.rect, color(Token::Selection));
    else if (severity == 2)
        painter->fillRect(option.rect, color(Token::ErrorSoft));
    painter->setFont(textFont(TextRole::Mono));
    const QFontMetrics metrics(painter->font());
    const int digit = metrics.horizontalAdvance(QLatin1Char('0'));
    QRect area = option.rect.adjusted(16, 0, -8, 0);
    const auto column = [&](int characters) {
        QRect place = area;
        place.setWidth(characters * digit);
        area.setLeft(place.right() + digit);
        return place;
    };
    painter->setPen(color(Token::TextMuted));
    painter->drawText(column(13), Qt::AlignVCenter, formatClock(index.data(LogModel::TimeRole).toDouble(), true));
    const QRect rankPlace = column(4);
    painter->fillRect(QRect(rankPlace.left(), rankPlace.top() + 4, 3, rankPlace.height() - 8),
                      Theme::instance().series(rank));
    painter->setPen(color(Token::TextSecondary));
    painter->drawText(rankPlace.adjusted(9, 0, 0, 0), Qt::AlignVCenter, QStringLiteral("r%L1").arg(rank));
    const QString names[] = {QStringLiteral("info"), QStringLiteral("WARN"), QStringLiteral("ERROR")};
    painter->setPen(color(severity == 2 ? Token::Error : severity == 1 ? Token::Warn : Token::TextSecondary));
    painter->drawText(column(6), Qt::AlignVCenter, names[severity]);
    painter->setPen(color(Token::Text));
    painter->drawText(area, Qt::AlignVCenter | Qt::TextSingleLine,
                      metrics.elidedText(index.data().toString(), Qt::ElideRight, area.width()));
    painter->restore();
}

QSize LogDelegate::sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const
{
    return {200, Theme::instance().scaled(20)};
}

} // namespace parallax::ui
