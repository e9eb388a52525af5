// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/embeddings/mapdata.h"

#include <QAbstractListModel>

#include <vector>

namespace parallax::embeddings {

/// The classes of a map: name, count, colour, and whether its points are shown (the check state).
class ClassModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum Role { SeriesRole = Qt::UserRole, CountRole };
    explicit ClassModel(QObject *parent = nullptr) : QAbstractListModel(parent) { }

    void setClasses(std::vector<ClassInfo> classes); ///< all shown
    const std::vector<bool> &shown() const { return m_shown; }
    std::int64_t shownCount() const;
    void toggle(int row);
    /// Only this one; when it is the only one already, all again.
    void isolate(int row);
    void showAll();

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    bool setData(const QModelIndex &index, const QVariant &value, int role) override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

Q_SIGNALS:
    void shownChanged();

private:
    void set(std::vector<bool> shown);
    std::vector<ClassInfo> m_classes;
    std::vector<bool> m_shown;
};

} // namespace parallax::embeddings
