// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/summary.h"

#include <QAbstractTableModel>
#include <QSet>
#include <QSortFilterProxyModel>

#include <map>
#include <vector>

namespace parallax::ui {

/// Runs as a table. A newer list is taken over row by row, so that selection and scroll stay.
class RunTableModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { State, Name, Dataset, Method, Backbone, Epoch, Knn, BestKnn, Loss, Duration, ColumnCount };
    enum Role {
        SummaryRole = Qt::UserRole + 1, ///< const session::RunSummary *, valid until the next change
        SortRole,                       ///< text or number; invalid: nothing there, sorted last
        BestRole                        ///< bool: the best kNN among the runs of that data set
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setRuns(const std::vector<session::RunSummary> &next);
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    int rowOf(const QString &folder) const; ///< -1: not there
    static const session::RunSummary *summary(const QModelIndex &index);
    static bool isNumber(int column) { return column >= Epoch && column != Loss; }

private:
    void removeGone(const QSet<QString> &present);
    /// False when runs that stay changed places: the caller resets.
    bool insertAndRefresh(const std::vector<session::RunSummary> &next);
    void findBest();
    QString text(const session::RunSummary &run, int column) const;
    QVariant sortKey(const session::RunSummary &run, int column) const;
    QString toolTip(const session::RunSummary &run, int column) const;

    std::vector<session::RunSummary> m_runs;
    std::map<QString, double> m_best; ///< by data set, where two runs or more can be compared
};

/// Sorts and filters. What has no value comes last in both directions.
class RunFilterModel : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    explicit RunFilterModel(QObject *parent = nullptr);
    /// Words that must all occur in name, data set, method, backbone, state or folder; "a or b" takes either side.
    void setText(const QString &text);
    void setStates(const QSet<int> &states);       ///< runs::State as int; empty: all
    void setMethods(const QSet<QString> &methods); ///< labels; empty: all
    bool isFiltering() const { return !m_alternatives.isEmpty() || !m_states.isEmpty() || !m_methods.isEmpty(); }

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

private:
    QList<QStringList> m_alternatives;
    QSet<int> m_states;
    QSet<QString> m_methods;
};

} // namespace parallax::ui
