// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <vector>

class QGridLayout;

namespace parallax::ui {

struct Fact {
    QString name, value, hint; ///< hint: tooltip of the name
    bool operator==(const Fact &) const = default;
};

/// Names on the left, values on the right; facts without a value are left out.
class FactGrid : public QWidget
{
    Q_OBJECT
public:
    explicit FactGrid(QWidget *parent = nullptr);
    void setFacts(const std::vector<Fact> &facts);
    const std::vector<Fact> &facts() const { return m_facts; }

private:
    QGridLayout *m_grid;
    std::vector<Fact> m_facts;
};

} // namespace parallax::ui
