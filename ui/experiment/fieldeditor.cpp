// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/fieldeditor.h"

#include "ui/experiment/affixedit.h"
#include "ui/experiment/deviceeditor.h"
#include "ui/experiment/draft.h"
#include "ui/experiment/patheditor.h"
#include "ui/widgets/choicebox.h"
#include "ui/widgets/controls.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QSlider>

#include <algorithm>
#include <cmath>

namespace parallax::experiment {
namespace {

using config::Type;

QHBoxLayout *makeRow(QWidget *widget)
{
    auto *row = new QHBoxLayout(widget);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    return row;
}

/// A hundred steps over the range at most, each 1, 2 or 5 times a power of ten.
double sliderStep(const config::Field &field)
{
    const double raw = (*field.max - *field.min) / 100, power = std::pow(10, std::floor(std::log10(raw)));
    double step = power;
    for (const double nice : {2, 5, 10})
        if (step < raw * (1 - 1e-9)) step = nice * power;
    return field.type == Type::Int ? std::max(1.0, std::round(step)) : step;
}

} // namespace

FieldEditor *FieldEditor::make(Draft *draft, const config::Field &field, QWidget *parent)
{
    if (field.type == Type::Bool) return new SwitchEditor(draft, field, parent);
    if (!field.choices.empty() && field.type == Type::String) return new ChoiceEditor(draft, field, parent);
    if (field.hint == "path") return new PathEditor(draft, field, parent);
    if (field.key == "distributed.devices") return new DeviceEditor(draft, field, parent);
    if (field.hint == "slider" && field.min && field.max && *field.min < *field.max)
        return new SliderEditor(draft, field, parent);
    return new TextEditor(draft, field, parent);
}

TextEditor::TextEditor(Draft *draft, const config::Field &field, QWidget *parent)
    : FieldEditor(draft, field, parent), m_edit(new AffixEdit({}, QString::fromStdString(field.unit), this))
{
    makeRow(this)->addWidget(m_edit);
    m_edit->installEventFilter(this);
    connect(m_edit, &QLineEdit::textEdited, this, [this](const QString &text) { m_draft->setText(m_field, text); });
    connect(m_edit, &QLineEdit::editingFinished, this, &TextEditor::refresh); // "0,050" becomes "0,05"
}

void TextEditor::refresh()
{
    m_edit->setError(!m_draft->problem(m_field).isEmpty());
    // While one types, what was typed stays: 0.10 on the way to 0.105 is not rewritten to 0.1.
    if (m_edit->hasFocus() && m_edit->isModified()) return;
    if (m_edit->text() != m_draft->text(m_field)) m_edit->setText(m_draft->text(m_field));
}

QWidget *TextEditor::input() const { return m_edit; }

bool TextEditor::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::FocusOut) {
        m_edit->setModified(false);
        refresh();
    }
    if (event->type() == QEvent::KeyPress && m_field.type == Type::Int) {
        const auto *key = static_cast<QKeyEvent *>(event);
        const int step = key->key() == Qt::Key_Up ? 1 : key->key() == Qt::Key_Down ? -1 : 0;
        if (step != 0 && key->modifiers() == Qt::NoModifier) {
            const double value = m_draft->value(m_field).get<double>() + step;
            if (value < m_field.min.value_or(value) || value > m_field.max.value_or(value)) return true;
            m_edit->setModified(false);
            m_draft->setValue(m_field, std::int64_t(value));
            return true;
        }
    }
    return FieldEditor::eventFilter(watched, event);
}

/// Never takes the wheel from the page that scrolls.
class FormSlider : public QSlider
{
public:
    using QSlider::QSlider;

protected:
    void wheelEvent(QWheelEvent *event) override { event->ignore(); }
};

SliderEditor::SliderEditor(Draft *draft, const config::Field &field, QWidget *parent)
    : FieldEditor(draft, field, parent), m_step(sliderStep(field)), m_slider(new FormSlider(Qt::Horizontal, this)),
      m_edit(new AffixEdit({}, {}, this))
{
    auto *row = makeRow(this);
    row->addWidget(m_slider, 1);
    row->addWidget(m_edit);
    m_edit->setFixedWidth(ui::Theme::instance().scaled(64));
    m_slider->setRange(0, int(std::round((*field.max - *field.min) / m_step)));
    m_slider->setFocusPolicy(Qt::StrongFocus);
    m_slider->setAccessibleName(QString::fromStdString(field.label));
    connect(m_slider, &QSlider::valueChanged, this, [this](int place) {
        // Six figures: 0.30000000000000004 is not what one meant.
        const double clean = QString::number(std::min(*m_field.max, *m_field.min + place * m_step), 'g', 6).toDouble();
        m_edit->setModified(false);
        if (m_field.type == Type::Int)
            m_draft->setValue(m_field, std::int64_t(std::llround(clean)));
        else
            m_draft->setValue(m_field, clean);
    });
    connect(m_edit, &QLineEdit::textEdited, this, [this](const QString &text) { m_draft->setText(m_field, text); });
    connect(m_edit, &QLineEdit::editingFinished, this, [this] {
        m_edit->setModified(false);
        refresh();
    });
}

void SliderEditor::refresh()
{
    m_edit->setError(!m_draft->problem(m_field).isEmpty());
    if (!(m_edit->hasFocus() && m_edit->isModified()) && m_edit->text() != m_draft->text(m_field))
        m_edit->setText(m_draft->text(m_field));
    const QSignalBlocker blocker(m_slider);
    m_slider->setValue(int(std::round((m_draft->value(m_field).get<double>() - *m_field.min) / m_step)));
}

QWidget *SliderEditor::input() const { return m_edit; }

ChoiceEditor::ChoiceEditor(Draft *draft, const config::Field &field, QWidget *parent)
    : FieldEditor(draft, field, parent), m_box(new ui::ChoiceBox(QString(), this))
{
    makeRow(this)->addWidget(m_box);
    for (const auto &choice : field.choices) {
        m_box->addItem(QString::fromStdString(choice.label), QString::fromStdString(choice.value));
        m_box->setItemData(m_box->count() - 1, QString::fromStdString(choice.help), Qt::ToolTipRole);
    }
    connect(m_box, &QComboBox::activated, this,
            [this](int index) { m_draft->setValue(m_field, m_box->itemData(index).toString().toStdString()); });
}

void ChoiceEditor::refresh()
{
    const auto value = m_draft->value(m_field);
    m_box->setCurrentIndex(value.is_string() ? m_box->findData(QString::fromStdString(value.get<std::string>())) : -1);
}

QWidget *ChoiceEditor::input() const { return m_box; }

SwitchEditor::SwitchEditor(Draft *draft, const config::Field &field, QWidget *parent)
    : FieldEditor(draft, field, parent), m_switch(new ui::Switch(this))
{
    auto *row = makeRow(this);
    row->addWidget(m_switch);
    row->addStretch(1);
    connect(m_switch, &QAbstractButton::clicked, this, [this](bool on) { m_draft->setValue(m_field, on); });
}

void SwitchEditor::refresh()
{
    const auto value = m_draft->value(m_field);
    m_switch->setChecked(value.is_boolean() && value.get<bool>());
}

QWidget *SwitchEditor::input() const { return m_switch; }

} // namespace parallax::experiment
