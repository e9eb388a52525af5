// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/workspace.h"
#include "ui/widgets/screen.h"

#include <QSet>

class QLabel;
class QMenu;
class QPushButton;
class QStackedWidget;

namespace parallax::ui {

class EmptyState;
class PageHeader;
class RunActions;
class RunFilterModel;
class RunPreview;
class RunTable;
class RunTableModel;
class SearchField;

/// All runs of the workspace: find, compare at a glance, open, stop, resume.
class RunsScreen : public Screen
{
    Q_OBJECT
public:
    RunsScreen(session::Workspace *workspace, RunActions *actions, QWidget *parent = nullptr);
    void activate() override;
    /// The run that is selected; null: none.
    const session::RunSummary *selected() const;
    void select(const QString &folder);

Q_SIGNALS:
    void monitorRequested(const QString &folder);
    void embeddingsRequested(const QString &folder);
    void cloneRequested(const QString &folder);
    void newRunRequested();
    void selectionChanged();

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    void makeTable();
    QWidget *makeHeader();
    QWidget *makeFilters();
    void fillStateMenu(QMenu *menu);
    void fillMethodMenu(QMenu *menu);
    void fillColumnMenu(QMenu *menu);
    void placePreview();
    void runsChanged();
    void showMenu(const QPoint &at);
    void clearFilters();

    session::Workspace *m_workspace;
    RunActions *m_actions;
    RunTableModel *m_model;
    RunFilterModel *m_filter;
    RunTable *m_table;
    RunPreview *m_preview;
    PageHeader *m_header;
    SearchField *m_search;
    QPushButton *m_states, *m_methods, *m_previewButton;
    QStackedWidget *m_stack;
    QSet<int> m_chosenStates;
    QSet<QString> m_chosenMethods;
    bool m_previewWanted = true;
};

} // namespace parallax::ui
