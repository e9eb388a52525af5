// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/config/schema.h"

#include <QWidget>

class QToolButton;

namespace parallax::ui {
class ElidedLabel;
}

namespace parallax::experiment {

class Draft;
class FieldEditor;
class NoteLabel;

/// One line of the form: dot when changed, label, control, and at the right what follows from the value or what is wrong.
class FieldRow : public QWidget
{
    Q_OBJECT
public:
    /// The form's columns, in pixels of the design: margin, dot, label, control.
    static constexpr int leftMargin = 12, dotColumn = 16, labelColumn = 164, controlColumn = 320;

    FieldRow(Draft *draft, const config::Field &field, QWidget *parent);
    const config::Field &field() const { return m_field; }
    FieldEditor *editor() const { return m_editor; }
    QToolButton *resetButton() const { return m_reset; }
    QString note() const;
    /// What follows from the value ("64 per rank"); empty: the range, or where it came from.
    void setDerived(const QString &text);
    /// What the check warns of about this field; it takes the place of what is derived. Empty: nothing.
    void setConcern(const QString &text);
    void refresh();
    /// Label, key or help hold every word of `search`.
    bool matches(const QStringList &words) const;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void showNote();

    Draft *m_draft;
    const config::Field &m_field; ///< lives in the draft's schema
    QString m_derived, m_concern, m_haystack;
    bool m_changed = false;
    FieldEditor *m_editor;
    ui::ElidedLabel *m_label;
    QToolButton *m_reset;
    NoteLabel *m_note;
};

} // namespace parallax::experiment
