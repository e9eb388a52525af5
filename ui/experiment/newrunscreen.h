// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/config/schema.h"
#include "core/session/workspace.h"
#include "ui/widgets/screen.h"

#include <QTemporaryDir>

#include <functional>
#include <memory>
#include <vector>

class QLabel;
class QMenu;
class QPushButton;
class QScrollArea;
class QStackedWidget;

namespace parallax::session {
class Job;
}
namespace parallax::ui {
class ChoiceBox;
class EmptyState;
class PageHeader;
class SearchField;
class SegmentedControl;
} // namespace parallax::ui

namespace parallax::experiment {

class AffixEdit;
class Banner;
class CheckCard;
class CommandCard;
class Draft;
class FormView;
class Planner;
class SectionList;
class ViewsCard;

/// Configure a run and start it: a form made from the worker's schema, what the network will see, what the check says, and
/// the same as a command line. Everything that takes time runs in processes and threads of its own.
class NewRunScreen : public ui::Screen
{
    Q_OBJECT
public:
    explicit NewRunScreen(session::Workspace *workspace, QWidget *parent = nullptr);
    ~NewRunScreen() override;
    void activate() override;
    bool isReady() const { return m_draft != nullptr; } ///< the schema is there
    Draft *draft() const { return m_draft.get(); }
    // Parts of the page, null until it is ready.
    FormView *form() const { return m_form; }
    SectionList *sections() const { return m_sections; }
    Planner *planner() const { return m_planner; }
    ViewsCard *views() const { return m_views; }
    CheckCard *checks() const { return m_checks; }
    CommandCard *command() const { return m_command; }
    Banner *banner() const { return m_banner; }

public Q_SLOTS:
    // Each waits for the schema where that is not there yet. What cannot be taken is said in place; the form stays.
    void loadPreset(const QString &name);
    void loadConfigFile(const QString &file);
    void cloneRun(const QString &folder);
    void useFolder(const QString &folder); ///< as data.source
    void start();

Q_SIGNALS:
    void started(const QString &runFolder);

protected:
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;

private:
    void loadSchema();
    void takeSchema(config::Schema schema);
    QWidget *makeHeader();
    QWidget *makePage();
    QWidget *makeFooter();
    QWidget *makeRightColumn();
    void whenReady(std::function<void()> action);
    void load(const QString &label, const QStringList &arguments, const config::Json &values);
    void showMessage(const QString &title, const Error &error);
    void fillPresets();
    void fillClones();
    void showDerived();
    void updateStart();
    void showStarting(bool starting);
    void layoutColumns();

    session::Workspace *m_workspace;
    std::unique_ptr<Draft> m_draft;
    std::vector<std::function<void()>> m_waiting; ///< for the schema
    Planner *m_planner = nullptr;
    session::Job *m_starting = nullptr;
    QTemporaryDir m_temporary;

    QStackedWidget *m_pages;
    ui::EmptyState *m_schemaPage;
    QPushButton *m_retry;
    ui::ChoiceBox *m_presets = nullptr;
    QPushButton *m_clone = nullptr, *m_start = nullptr;
    QMenu *m_cloneMenu = nullptr;
    ui::SearchField *m_search = nullptr;
    ui::SegmentedControl *m_mode = nullptr, *m_column = nullptr;
    Banner *m_banner = nullptr;
    SectionList *m_sections = nullptr;
    FormView *m_form = nullptr;
    QScrollArea *m_right = nullptr;
    ViewsCard *m_views = nullptr;
    CheckCard *m_checks = nullptr;
    CommandCard *m_command = nullptr;
    AffixEdit *m_name = nullptr;
    QWidget *m_left = nullptr; ///< side list and form
    QLabel *m_state = nullptr;
};

} // namespace parallax::experiment
