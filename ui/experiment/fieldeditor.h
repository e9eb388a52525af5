// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/config/schema.h"

#include <QWidget>

class QComboBox;
class QSlider;

namespace parallax::ui {
class Switch;
}

namespace parallax::experiment {

class AffixEdit;
class Draft;

/// The control of one field. It shows what the draft holds and hands every change to it; it keeps no value of its own.
class FieldEditor : public QWidget
{
    Q_OBJECT
public:
    FieldEditor(Draft *draft, const config::Field &field, QWidget *parent) : QWidget(parent), m_draft(draft), m_field(field)
    {
    }
    /// By type, choices and hint.
    static FieldEditor *make(Draft *draft, const config::Field &field, QWidget *parent);
    const config::Field &field() const { return m_field; }
    virtual void refresh() = 0;
    /// Where the focus goes, and what a screen reader names.
    virtual QWidget *input() const = 0;
    virtual int heightInPixels() const { return 32; }

protected:
    Draft *m_draft;
    const config::Field &m_field; ///< lives in the draft's schema
};

/// Numbers, texts and lists: a line edit with the unit. Up and Down step whole numbers.
class TextEditor : public FieldEditor
{
    Q_OBJECT
public:
    TextEditor(Draft *draft, const config::Field &field, QWidget *parent);
    void refresh() override;
    QWidget *input() const override;

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    AffixEdit *m_edit;
};

/// A number with both ends known: slider and line edit.
class SliderEditor : public FieldEditor
{
    Q_OBJECT
public:
    SliderEditor(Draft *draft, const config::Field &field, QWidget *parent);
    void refresh() override;
    QWidget *input() const override;
    QSlider *slider() const { return m_slider; }

private:
    double m_step;
    QSlider *m_slider;
    AffixEdit *m_edit;
};

class ChoiceEditor : public FieldEditor
{
    Q_OBJECT
public:
    ChoiceEditor(Draft *draft, const config::Field &field, QWidget *parent);
    void refresh() override;
    QWidget *input() const override;

private:
    QComboBox *m_box;
};

class SwitchEditor : public FieldEditor
{
    Q_OBJECT
public:
    SwitchEditor(Draft *draft, const config::Field &field, QWidget *parent);
    void refresh() override;
    QWidget *input() const override;

private:
    ui::Switch *m_switch;
};

} // namespace parallax::experiment
