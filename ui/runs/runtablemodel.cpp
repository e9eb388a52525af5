// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/runtablemodel.h"

#include "core/session/qtconvert.h"
#include "core/session/runname.h"
#include "ui/widgets/format.h"

#include <algorithm>
#include <cmath>

namespace parallax::ui {

using session::RunSummary;
using session::toQString;

int RunTableModel::rowCount(const QModelIndex &parent) const { return parent.isValid() ? 0 : int(m_runs.size()); }

int RunTableModel::columnCount(const QModelIndex &parent) const { return parent.isValid() ? 0 : ColumnCount; }

int RunTableModel::rowOf(const QString &folder) const
{
    const auto found =
        std::find_if(m_runs.begin(), m_runs.end(), [&](const RunSummary &run) { return run.folder == folder; });
    return found == m_runs.end() ? -1 : int(found - m_runs.begin());
}

const RunSummary *RunTableModel::summary(const QModelIndex &index)
{
    return index.data(SummaryRole).value<const RunSummary *>();
}

QVariant RunTableModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const RunSummary &run = m_runs[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole: return text(run, index.column());
    case Qt::ToolTipRole: return toolTip(run, index.column());
    case Qt::TextAlignmentRole: return int(Qt::AlignVCenter | (isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft));
    case SummaryRole: return QVariant::fromValue(&run);
    case SortRole: return sortKey(run, index.column());
    case BestRole: {
        const auto best = m_best.find(run.dataset);
        return index.column() == BestKnn && best != m_best.end() && run.bestKnn == best->second;
    }
    default: return {};
    }
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    const QString titles[] = {tr("State"), tr("Name"), tr("Dataset"),  tr("Method"), tr("Backbone"),
                              tr("Epoch"), tr("kNN"),  tr("Best kNN"), tr("Loss"),   tr("Duration")};
    if (role == Qt::DisplayRole) return titles[section];
    if (role == Qt::TextAlignmentRole) return int(Qt::AlignVCenter | (isNumber(section) ? Qt::AlignRight : Qt::AlignLeft));
    return {};
}

QString RunTableModel::text(const RunSummary &run, int column) const
{
    switch (column) {
    case State: return run.problem.isEmpty() ? stateLook(run.record.state).label : tr("Unreadable");
    case Name: return session::runName(run);
    case Dataset: return run.dataset;
    case Method: return run.method;
    case Backbone: return run.backbone;
    case Epoch:
        if (run.epochs <= 0) return QStringLiteral("–");
        return (run.step > 0 || run.epoch > 0 ? formatCount(std::floor(run.epoch)) : QStringLiteral("–")) +
            QStringLiteral(" / ") + formatCount(run.epochs);
    case Knn: return formatFixed(run.lastKnn, 4);
    case BestKnn: return formatFixed(run.bestKnn, 4);
    case Loss: return formatMetric(run.loss);
    case Duration: return run.step > 0 ? formatDuration(run.duration) : QStringLiteral("–");
    default: return {};
    }
}

QVariant RunTableModel::sortKey(const RunSummary &run, int column) const
{
    const auto number = [](double value) { return std::isfinite(value) ? QVariant(value) : QVariant(); };
    switch (column) {
    case State: return int(run.record.state);
    case Epoch: return run.epoch;
    case Knn: return number(run.lastKnn);
    case BestKnn: return number(run.bestKnn);
    case Loss: return number(run.loss);
    case Duration: return number(run.duration);
    default: return text(run, column);
    }
}

QString RunTableModel::toolTip(const RunSummary &run, int column) const
{
    if (!run.problem.isEmpty()) return run.problem;
    if (column == State && run.record.failure) return toQString(run.record.failure->summary());
    if (column == State && !run.record.state_reason.empty()) return toQString(run.record.state_reason);
    if (column == Name) return run.folder;
    if (column == Knn || column == BestKnn)
        return std::isfinite(run.untrainedKnn) ? tr("untrained %1").arg(formatFixed(run.untrainedKnn, 4)) : QString();
    if (column == Loss && std::isfinite(run.loss)) return tr("last %1").arg(formatMetric(run.loss));
    return {};
}

void RunTableModel::setRuns(const std::vector<RunSummary> &next)
{
    QSet<QString> present;
    present.reserve(qsizetype(next.size()));
    for (const RunSummary &run : next) present.insert(run.folder);
    removeGone(present);
    if (!insertAndRefresh(next)) {
        beginResetModel();
        m_runs = next;
        endResetModel();
    }
    findBest();
}

void RunTableModel::removeGone(const QSet<QString> &present)
{
    for (int last = int(m_runs.size()) - 1; last >= 0; --last) {
        if (present.contains(m_runs[std::size_t(last)].folder)) continue;
        int first = last;
        while (first > 0 && !present.contains(m_runs[std::size_t(first - 1)].folder)) --first;
        beginRemoveRows({}, first, last);
        m_runs.erase(m_runs.begin() + first, m_runs.begin() + last + 1);
        endRemoveRows();
        last = first;
    }
}

bool RunTableModel::insertAndRefresh(const std::vector<RunSummary> &next)
{
    QSet<QString> known;
    known.reserve(qsizetype(m_runs.size()));
    for (const RunSummary &run : m_runs) known.insert(run.folder);
    int changedFrom = -1;
    const auto tell = [&](int end) {
        if (changedFrom >= 0) Q_EMIT dataChanged(index(changedFrom, 0), index(end - 1, ColumnCount - 1));
        changedFrom = -1;
    };
    for (std::size_t i = 0; i < next.size();) {
        if (i < m_runs.size() && m_runs[i].folder == next[i].folder) {
            const bool same = m_runs[i] == next[i];
            if (same) tell(int(i));
            if (!same && changedFrom < 0) changedFrom = int(i);
            if (!same) m_runs[i] = next[i];
            ++i;
            continue;
        }
        tell(int(i));
        std::size_t end = i;
        while (end < next.size() && !known.contains(next[end].folder)) ++end;
        if (end == i) return false;
        beginInsertRows({}, int(i), int(end) - 1);
        m_runs.insert(m_runs.begin() + std::ptrdiff_t(i), next.begin() + std::ptrdiff_t(i),
                      next.begin() + std::ptrdiff_t(end));
        endInsertRows();
        i = end;
    }
    tell(int(next.size()));
    return true;
}

void RunTableModel::findBest()
{
    std::map<QString, std::pair<double, int>> seen;
    for (const RunSummary &run : m_runs) {
        if (!std::isfinite(run.bestKnn)) continue;
        auto [entry, isNew] = seen.try_emplace(run.dataset, run.bestKnn, 0);
        entry->second.first = std::max(entry->second.first, run.bestKnn);
        ++entry->second.second;
    }
    std::map<QString, double> best;
    for (const auto &[dataset, value] : seen)
        if (value.second > 1) best[dataset] = value.first;
    if (best == m_best) return;
    m_best = std::move(best);
    if (!m_runs.empty()) Q_EMIT dataChanged(index(0, BestKnn), index(int(m_runs.size()) - 1, BestKnn), {BestRole});
}

RunFilterModel::RunFilterModel(QObject *parent) : QSortFilterProxyModel(parent) { setSortRole(RunTableModel::SortRole); }

void RunFilterModel::setText(const QString &text)
{
    QList<QStringList> alternatives;
    QStringList words;
    for (const QString &word : text.toLower().simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        if (word != QLatin1String("or")) {
            words << word;
            continue;
        }
        if (!words.isEmpty()) alternatives << words;
        words.clear();
    }
    if (!words.isEmpty()) alternatives << words;
    if (alternatives == m_alternatives) return;
    m_alternatives = alternatives;
    invalidateFilter();
}

void RunFilterModel::setStates(const QSet<int> &states)
{
    m_states = states;
    invalidateFilter();
}

void RunFilterModel::setMethods(const QSet<QString> &methods)
{
    m_methods = methods;
    invalidateFilter();
}

bool RunFilterModel::filterAcceptsRow(int row, const QModelIndex &parent) const
{
    const QAbstractItemModel *model = sourceModel();
    const RunSummary *run = RunTableModel::summary(model->index(row, 0, parent));
    if (!m_states.isEmpty() && !m_states.contains(int(run->record.state))) return false;
    if (!m_methods.isEmpty() && !m_methods.contains(run->method)) return false;
    if (m_alternatives.isEmpty()) return true;
    QString text = run->folder.section(QLatin1Char('/'), -1).toLower();
    for (const int column :
         {RunTableModel::State, RunTableModel::Name, RunTableModel::Dataset, RunTableModel::Method, RunTableModel::Backbone})
        text += QLatin1Char('\n') + model->index(row, column, parent).data().toString().toLower();
    return std::any_of(m_alternatives.begin(), m_alternatives.end(), [&](const QStringList &words) {
        return std::all_of(words.begin(), words.end(), [&](const QString &word) { return text.contains(word); });
    });
}

bool RunFilterModel::lessThan(const QModelIndex &left, const QModelIndex &right) const
{
    const QVariant a = left.data(RunTableModel::SortRole), b = right.data(RunTableModel::SortRole);
    // The proxy turns the answer round for descending order: an empty value has to claim the other end then.
    if (!a.isValid() || !b.isValid())
        return sortOrder() == Qt::AscendingOrder ? a.isValid() && !b.isValid() : !a.isValid() && b.isValid();
    if (a.typeId() == QMetaType::QString) return QString::localeAwareCompare(a.toString(), b.toString()) < 0;
    return a.toDouble() < b.toDouble();
}

} // namespace parallax::ui
