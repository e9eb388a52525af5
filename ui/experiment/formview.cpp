// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/formview.h"

#include "ui/experiment/draft.h"
#include "ui/experiment/fieldeditor.h"
#include "ui/experiment/fieldrow.h"
#include "ui/experiment/thumbstrip.h"
#include "ui/widgets/controls.h"

#include <QHBoxLayout>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace parallax::experiment {

FormView::FormView(Draft *draft, QWidget *parent)
    : QScrollArea(parent), m_draft(draft), m_thumbs(new ThumbStrip(this)), m_page(new QWidget(this)),
      m_column(new QVBoxLayout(m_page)),
      m_nothing(ui::makeLabel(tr("No setting matches."), ui::TextRole::Body, "muted", m_page))
{
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
    m_page->setProperty("role", QStringLiteral("panel"));
    m_column->setContentsMargins(0, 12, 0, 24);
    m_column->setSpacing(0);
    auto *nothing = new QHBoxLayout;
    nothing->setContentsMargins(28, 0, 16, 0);
    nothing->addWidget(m_nothing);
    m_column->addLayout(nothing);
    for (const auto &group : draft->schema().groups()) {
        auto *box = new QWidget(m_page);
        auto *rows = new QVBoxLayout(box);
        rows->setContentsMargins(0, 0, 0, 12);
        rows->setSpacing(0);
        auto *title = ui::makeLabel(QString::fromStdString(group.label), ui::TextRole::Section, "", box);
        auto *line = new QHBoxLayout; // a label that is styled has no margins of its own
        line->setContentsMargins(28, 4, 0, 6);
        line->addWidget(title);
        rows->addLayout(line);
        m_column->addWidget(box);
        m_sections.push_back({group.name, box, rows});
    }
    m_column->addStretch(1);
    m_thumbs->hide();
    setWidget(m_page);
    connect(draft, &Draft::fieldsChanged, this, &FormView::rebuild);
    connect(draft, &Draft::changed, this, [this](const QString &key) {
        if (FieldRow *changed = row(key)) changed->refresh();
        updateVisibility();
    });
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this,
            [this] { Q_EMIT sectionReached(QString::fromStdString(currentSection())); });
    rebuild();
}

/// Rows whose field stays are kept: neither focus nor scroll place is lost when the method changes.
void FormView::rebuild()
{
    std::vector<FieldRow *> rows;
    for (const config::Field *field : m_draft->fields()) {
        const auto it =
            std::find_if(m_rows.begin(), m_rows.end(), [field](FieldRow *row) { return &row->field() == field; });
        if (it != m_rows.end()) {
            rows.push_back(*it);
            (*it)->refresh();
            m_rows.erase(it);
            continue;
        }
        const auto section = std::find_if(m_sections.begin(), m_sections.end(),
                                          [field](const Section &s) { return s.group == field->group(); });
        auto *row = new FieldRow(m_draft, *field, section->box);
        // Behind the row before it, and behind the pictures that belong to that row; the title comes first.
        const auto last =
            std::find_if(rows.rbegin(), rows.rend(), [field](FieldRow *r) { return r->field().group() == field->group(); });
        int place = last == rows.rend() ? 1 : section->rows->indexOf(*last) + 1;
        if (section->rows->indexOf(m_thumbs) == place) ++place;
        section->rows->insertWidget(place, row);
        rows.push_back(row);
        if (field->hint == "path" && !field->advanced) section->rows->insertWidget(place + 1, m_thumbs);
    }
    for (FieldRow *gone : m_rows) delete gone;
    m_rows = std::move(rows);
    setDerived(m_derived);
    setConcerns(m_concerns);
    applyDevices();
    updateVisibility();
    // The tab order is that of the form, whatever was inserted when.
    QWidget *last = nullptr;
    for (FieldRow *row : m_rows)
        for (QWidget *next : {row->editor()->input(), static_cast<QWidget *>(row->resetButton())}) {
            if (last && next) QWidget::setTabOrder(last, next);
            if (next) last = next;
        }
}

void FormView::updateVisibility()
{
    std::map<std::string, int> shown;
    for (FieldRow *row : m_rows) {
        const auto &field = row->field();
        bool visible = m_words.isEmpty() ? m_advanced || !field.advanced || m_draft->isChanged(field) ||
                !m_draft->problem(field).isEmpty() || row->objectName() == m_pinned
                                         : row->matches(m_words);
        if (const auto *devices = dynamic_cast<DeviceEditor *>(row->editor()))
            visible = visible && (devices->hasDevices() || m_draft->isChanged(field));
        row->setVisible(visible);
        shown[field.group()] += visible;
        if (field.hint == "path" && !field.advanced) m_thumbs->setVisible(visible && m_thumbs->hasImages());
    }
    int all = 0;
    for (const Section &section : m_sections) {
        section.box->setVisible(shown[section.group] > 0);
        all += shown[section.group];
    }
    m_nothing->setVisible(all == 0);
}

void FormView::setAdvanced(bool advanced)
{
    m_advanced = advanced;
    m_pinned.clear();
    updateVisibility();
}

void FormView::setSearch(const QString &text)
{
    m_words = text.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    updateVisibility();
    if (!m_words.isEmpty()) verticalScrollBar()->setValue(0);
}

void FormView::setDevices(const std::vector<Device> &devices)
{
    m_devices = devices;
    for (FieldRow *row : m_rows)
        if (auto *editor = dynamic_cast<DeviceEditor *>(row->editor())) editor->setDevices({});
    applyDevices();
    updateVisibility();
}

void FormView::applyDevices()
{
    for (FieldRow *row : m_rows) {
        auto *editor = dynamic_cast<DeviceEditor *>(row->editor());
        if (!editor || editor->hasDevices() || m_devices.empty()) continue;
        editor->setDevices(m_devices);
        row->refresh();
    }
}

void FormView::setDerived(const QMap<QString, QString> &notes)
{
    m_derived = notes;
    for (FieldRow *row : m_rows) row->setDerived(notes.value(row->objectName()));
}

void FormView::setConcerns(const QMap<QString, QString> &concerns)
{
    m_concerns = concerns;
    for (FieldRow *row : m_rows) row->setConcern(concerns.value(row->objectName()));
}

void FormView::setThumbs(const std::vector<QImage> &images, const QString &note)
{
    m_thumbs->setImages(images, note);
    updateVisibility();
}

FieldRow *FormView::row(const QString &key) const
{
    const auto it = std::find_if(m_rows.begin(), m_rows.end(), [&](FieldRow *row) { return row->objectName() == key; });
    return it == m_rows.end() ? nullptr : *it;
}

void FormView::reveal(const QString &key)
{
    FieldRow *found = row(key);
    if (!found) return;
    m_pinned = key;
    updateVisibility();
    m_page->layout()->activate();
    ensureWidgetVisible(found, 0, 60);
    if (QWidget *input = found->editor()->input()) input->setFocus(Qt::OtherFocusReason);
}

void FormView::showSection(const std::string &group)
{
    for (const Section &section : m_sections)
        if (section.group == group) {
            m_page->layout()->activate();
            verticalScrollBar()->setValue(section.box->y() - 8);
        }
}

std::string FormView::currentSection() const
{
    const int top = verticalScrollBar()->value() + 40;
    std::string current;
    for (const Section &section : m_sections)
        if (section.box->isVisibleTo(m_page) && (current.empty() || section.box->y() <= top)) current = section.group;
    return current;
}

} // namespace parallax::experiment
