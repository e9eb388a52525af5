// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/factgrid.h"

#include "ui/widgets/controls.h"

#include <QGridLayout>

namespace parallax::ui {

FactGrid::FactGrid(QWidget *parent) : QWidget(parent), m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setVerticalSpacing(6);
    m_grid->setColumnStretch(1, 1);
}

void FactGrid::setFacts(const std::vector<Fact> &facts)
{
    if (facts == m_facts) return; // labels that a mouse rests on stay
    m_facts = facts;
    while (QLayoutItem *item = m_grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    int row = 0;
    for (const Fact &fact : facts) {
        if (fact.value.isEmpty()) continue;
        QLabel *name = makeLabel(fact.name, TextRole::Table, "muted");
        name->setToolTip(fact.hint);
        m_grid->addWidget(name, row, 0);
        auto *value = new ElidedLabel(TextRole::Table);
        value->setAlignment(Qt::AlignRight);
        value->setFullText(fact.value);
        m_grid->addWidget(value, row++, 1);
    }
}

} // namespace parallax::ui
