// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/workspace.h"
#include "ui/widgets/card.h"

#include <functional>

class QGridLayout;
class QLabel;
class QPlainTextEdit;

namespace parallax::ui {

class IconLabel;
class RunActions;

/// Why a run ended before its time: a sentence, the words of the error, what one can do about it.
class FailureCard : public Card
{
    Q_OBJECT
public:
    explicit FailureCard(RunActions *actions, QWidget *parent = nullptr);
    /// Shows itself for failed and interrupted runs, hides otherwise.
    void show(const session::RunSummary &run);

Q_SIGNALS:
    void cloneRequested(const QString &folder);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QWidget *makeReason();
    QWidget *makeRemedies();
    void setRemedies();
    void addRemedy(const QString &text, const QString &button, const QString &iconName, std::function<void()> act);
    QString report() const;

    RunActions *m_actions;
    session::RunSummary m_run;
    IconLabel *m_icon;
    QLabel *m_title, *m_text;
    QPlainTextEdit *m_words;
    QGridLayout *m_remedies;
    int m_remedyCount = 0;
};

} // namespace parallax::ui
