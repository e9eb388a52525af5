// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/embeddings/classmodel.h"

#include <algorithm>

namespace parallax::embeddings {

void ClassModel::setClasses(std::vector<ClassInfo> classes)
{
    beginResetModel();
    m_classes = std::move(classes);
    m_shown.assign(m_classes.size(), true);
    endResetModel();
    Q_EMIT shownChanged();
}

std::int64_t ClassModel::shownCount() const
{
    std::int64_t count = 0;
    for (std::size_t i = 0; i < m_classes.size(); ++i)
        if (m_shown[i]) count += m_classes[i].count;
    return count;
}

void ClassModel::set(std::vector<bool> shown)
{
    if (shown == m_shown) return;
    m_shown = std::move(shown);
    Q_EMIT dataChanged(index(0), index(rowCount() - 1), {Qt::CheckStateRole});
    Q_EMIT shownChanged();
}

void ClassModel::toggle(int row)
{
    if (row < 0 || row >= rowCount()) return;
    auto shown = m_shown;
    shown[std::size_t(row)] = !shown[std::size_t(row)];
    set(std::move(shown));
}

void ClassModel::isolate(int row)
{
    if (row < 0 || row >= rowCount()) return;
    std::vector<bool> only(m_classes.size(), false);
    only[std::size_t(row)] = true;
    if (only == m_shown)
        showAll();
    else
        set(std::move(only));
}

void ClassModel::showAll() { set(std::vector<bool>(m_classes.size(), true)); }

int ClassModel::rowCount(const QModelIndex &parent) const { return parent.isValid() ? 0 : int(m_classes.size()); }

QVariant ClassModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const ClassInfo &info = m_classes[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole: return info.name;
    case Qt::CheckStateRole: return m_shown[std::size_t(index.row())] ? Qt::Checked : Qt::Unchecked;
    case SeriesRole: return info.series;
    case CountRole: return qlonglong(info.count);
    default: return {};
    }
}

bool ClassModel::setData(const QModelIndex &index, const QVariant &value, int role)
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || role != Qt::CheckStateRole) return false;
    if ((value.toInt() == Qt::Checked) != m_shown[std::size_t(index.row())]) toggle(index.row());
    return true;
}

Qt::ItemFlags ClassModel::flags(const QModelIndex &index) const
{
    return index.isValid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable | Qt::ItemNeverHasChildren
                           : Qt::NoItemFlags;
}

} // namespace parallax::embeddings
