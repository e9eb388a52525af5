// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/card.h"

#include <functional>

class QPlainTextEdit;
class QPushButton;

namespace parallax::ui {
class SegmentedControl;
}

namespace parallax::experiment {

class Draft;

/// `words` as one pastes them into a shell: quoted where needed, one option a line.
QString shellCommand(const QStringList &words);

/// The draft as a command line, as a config file, and as a list of changes; Copy takes what is shown.
class CommandCard : public ui::Card
{
    Q_OBJECT
public:
    /// `extra`: arguments that the form does not know, such as --name.
    CommandCard(Draft *draft, std::function<QStringList()> extra, QWidget *parent = nullptr);
    QString text() const;
    ui::SegmentedControl *tabs() const { return m_tabs; }
    QPushButton *copyButton() const { return m_copy; }
    void refresh();

private:
    Draft *m_draft;
    std::function<QStringList()> m_extra;
    ui::SegmentedControl *m_tabs;
    QPushButton *m_copy;
    QPlainTextEdit *m_text;
};

} // namespace parallax::experiment
