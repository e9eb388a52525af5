// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/runfollower.h"

#include <QAbstractListModel>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>

#include <vector>

namespace parallax::ui {

/// The lines of a run's log. A newer list that only went on adds rows: selection and scroll stay.
class LogModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum Role { TimeRole = Qt::UserRole + 1, RankRole, LevelRole };
    using QAbstractListModel::QAbstractListModel;
    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    void setLines(std::vector<session::LogLine> lines);
    /// info 0, warning 1, error 2.
    static int severity(const QString &level);

private:
    std::vector<session::LogLine> m_lines;
};

class LogFilter : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setLevel(int severity); ///< that and above
    void setRank(int rank);      ///< -1: all
    void setText(const QString &text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

private:
    int m_level = 0, m_rank = -1;
    QString m_text;
};

/// One line: time, rank with its colour, level, text. Lines of errors stand on errorSoft.
class LogDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;
};

} // namespace parallax::ui
