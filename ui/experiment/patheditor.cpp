// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/patheditor.h"

#include "core/config/builtindata.h"
#include "ui/experiment/affixedit.h"
#include "ui/experiment/draft.h"
#include "ui/widgets/icons.h"

#include <QAction>
#include <QDir>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenu>
#include <QSettings>

namespace parallax::experiment {
namespace {

constexpr int longestMemory = 8;

using config::BuiltInData;
using config::builtInData;

QString text(std::string_view view) { return QString::fromUtf8(view.data(), qsizetype(view.size())); }

QString settingsKey() { return QStringLiteral("recentSources"); }

} // namespace

PathEditor::PathEditor(Draft *draft, const config::Field &field, QWidget *parent)
    : FieldEditor(draft, field, parent), m_edit(new AffixEdit({}, {}, this)), m_menu(new QMenu(this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(m_edit);
    m_edit->setPlaceholderText(tr("Choose or drop a folder"));
    auto *folder = m_edit->addAction(ui::icon(QStringLiteral("folder")), QLineEdit::LeadingPosition);
    folder->setToolTip(tr("Choose a folder …"));
    auto *more = m_edit->addAction(ui::icon(QStringLiteral("down")), QLineEdit::TrailingPosition);
    more->setToolTip(tr("Built-in and earlier data"));
    m_edit->installEventFilter(this);
    connect(folder, &QAction::triggered, this, &PathEditor::browse);
    connect(more, &QAction::triggered, this, [this] { m_menu->exec(m_edit->mapToGlobal(QPoint(0, m_edit->height() + 2))); });
    connect(m_menu, &QMenu::aboutToShow, this, &PathEditor::fillMenu);
    connect(m_edit, &QLineEdit::textEdited, this, &PathEditor::take);
    connect(m_edit, &QLineEdit::editingFinished, this, [this] {
        m_edit->setModified(false);
        refresh();
    });
}

void PathEditor::take(const QString &path)
{
    for (const BuiltInData &builtIn : builtInData)
        if (path.trimmed().compare(text(builtIn.label), Qt::CaseInsensitive) == 0) {
            m_draft->setText(m_field, text(builtIn.name));
            return;
        }
    m_draft->setText(m_field, path);
}

QString PathEditor::shown(const QString &value) const
{
    for (const BuiltInData &builtIn : builtInData)
        if (value == text(builtIn.name)) return text(builtIn.label);
    return value;
}

void PathEditor::refresh()
{
    m_edit->setError(!m_draft->problem(m_field).isEmpty());
    if (m_edit->hasFocus() && m_edit->isModified()) return;
    const QString now = shown(m_draft->text(m_field));
    if (m_edit->text() != now) m_edit->setText(now);
    m_edit->setToolTip(now);
}

QWidget *PathEditor::input() const { return m_edit; }

void PathEditor::fillMenu()
{
    m_menu->clear();
    m_menu->setMinimumWidth(m_edit->width());
    for (const BuiltInData &builtIn : builtInData)
        m_menu->addAction(ui::icon(QStringLiteral("image")), text(builtIn.label), this, [this, builtIn] {
            m_edit->setModified(false);
            m_draft->setText(m_field, text(builtIn.name));
        });
    const QStringList known = recent();
    if (!known.isEmpty()) m_menu->addSeparator();
    for (const QString &path : known)
        m_menu->addAction(ui::icon(QStringLiteral("folder")), m_edit->fontMetrics().elidedText(path, Qt::ElideMiddle, 420),
                          this, [this, path] {
                              m_edit->setModified(false);
                              m_draft->setText(m_field, path);
                          });
    m_menu->addSeparator();
    m_menu->addAction(tr("Choose a folder …"), this, &PathEditor::browse);
}

void PathEditor::browse()
{
    const QString now = m_draft->text(m_field);
    const QString path =
        QFileDialog::getExistingDirectory(this, tr("Folder of images"), QFileInfo(now).isDir() ? now : QDir::homePath());
    if (path.isEmpty()) return;
    m_edit->setModified(false);
    m_draft->setText(m_field, path);
}

QStringList PathEditor::recent() { return QSettings().value(settingsKey()).toStringList(); }

void PathEditor::remember(const QString &path)
{
    for (const BuiltInData &builtIn : builtInData)
        if (path == text(builtIn.name)) return;
    QStringList list = recent();
    list.removeAll(path);
    list.prepend(path);
    QSettings().setValue(settingsKey(), list.mid(0, longestMemory));
}

bool PathEditor::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::FocusOut) {
        m_edit->setModified(false);
        refresh();
    }
    // A dropped folder is for the whole page: a line edit would insert it as text.
    if (event->type() == QEvent::DragEnter || event->type() == QEvent::DragMove || event->type() == QEvent::Drop) {
        event->ignore();
        return true;
    }
    return FieldEditor::eventFilter(watched, event);
}

} // namespace parallax::experiment
