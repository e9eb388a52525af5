// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the New run screen does: take values from somewhere, and start.
#include "ui/experiment/newrunscreen.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/runs/runfolder.h"
#include "core/session/job.h"
#include "core/session/runname.h"
#include "core/session/settings.h"
#include "ui/experiment/affixedit.h"
#include "ui/experiment/banner.h"
#include "ui/experiment/draft.h"
#include "ui/experiment/formview.h"
#include "ui/experiment/patheditor.h"
#include "ui/experiment/planner.h"
#include "ui/widgets/choicebox.h"
#include "ui/widgets/controls.h"

#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>

namespace parallax::experiment {
namespace {

QString shown(const std::string &text)
{
    QStringList lines; // each made safe by itself: the breaks between them stay
    for (const auto &line : text::split(text, '\n')) lines << QString::fromStdString(text::printable(line));
    return lines.join(QLatin1Char('\n'));
}

QList<QUrl> localUrls(const QMimeData *data)
{
    QList<QUrl> urls;
    for (const QUrl &url : data->urls())
        if (url.isLocalFile()) urls << url;
    return urls;
}

} // namespace

void NewRunScreen::whenReady(std::function<void()> action)
{
    if (m_draft)
        action();
    else
        m_waiting.push_back(std::move(action));
}

void NewRunScreen::showMessage(const QString &title, const Error &error)
{
    m_banner->showError(title, shown(error.message()));
}

void NewRunScreen::load(const QString &label, const QStringList &arguments, const config::Json &values)
{
    if (const Status loaded = m_draft->load({label, arguments, values}); !loaded) {
        showMessage(tr("%1 cannot be used; the form stays as it was").arg(label), loaded.error());
        return;
    }
    m_banner->hide();
    const int preset = arguments.value(0) == QLatin1String("--preset") ? m_presets->findData(arguments.value(1)) : -1;
    // What is no preset is shown by its name, as long as it is the base.
    while (m_presets->count() > 0 && m_presets->itemData(m_presets->count() - 1).toString() == QLatin1String("@"))
        m_presets->removeItem(m_presets->count() - 1);
    if (preset < 0 && !arguments.isEmpty()) m_presets->addItem(label, QStringLiteral("@"));
    m_presets->setCurrentIndex(preset >= 0 ? preset : arguments.isEmpty() ? 0 : m_presets->count() - 1);
    m_presets->updateGeometry();
}

void NewRunScreen::loadPreset(const QString &name)
{
    whenReady([this, name] {
        if (name == QLatin1String("@")) return; // the present base itself
        if (name.isEmpty()) return load(tr("The defaults"), {}, config::Json::object());
        const auto preset = session::findPreset(name);
        if (!preset) return showMessage(tr("There is no such preset"), preset.error());
        load(preset->label, {QStringLiteral("--preset"), preset->name}, preset->values);
    });
}

void NewRunScreen::loadConfigFile(const QString &file)
{
    whenReady([this, file] {
        const auto values = config::readFile(file.toStdString());
        const QString name = QFileInfo(file).fileName();
        if (!values) return showMessage(tr("%1 cannot be read; the form stays as it was").arg(name), values.error());
        load(name, {QStringLiteral("--config"), file}, *values);
    });
}

void NewRunScreen::cloneRun(const QString &folder)
{
    whenReady([this, folder] {
        const auto file = runs::RunFolder(folder.toStdString()).config();
        const auto values = config::readFile(file.string());
        if (!values) return showMessage(tr("This run cannot be cloned"), values.error());
        const auto *run = m_workspace->find(folder);
        const QString name = run ? session::runName(*run) : QFileInfo(folder).fileName();
        load(tr("Clone of %1").arg(name), {QStringLiteral("--config"), QString::fromStdString(file.string())}, *values);
    });
}

void NewRunScreen::useFolder(const QString &folder)
{
    whenReady([this, folder] {
        const config::Field *source = m_draft->field(QStringLiteral("data.source"));
        if (!source) return;
        m_banner->hide();
        m_draft->setText(*source, folder);
        m_form->reveal(QStringLiteral("data.source"));
    });
}

void NewRunScreen::dragEnterEvent(QDragEnterEvent *event)
{
    if (!localUrls(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void NewRunScreen::dropEvent(QDropEvent *event)
{
    const QList<QUrl> urls = localUrls(event->mimeData());
    if (urls.isEmpty()) return;
    event->acceptProposedAction();
    whenReady([this, urls] {
        if (urls.size() > 1)
            return showMessage(
                tr("One thing at a time"),
                {"More than one file or folder was dropped", {}, "Drop one folder of images, or one configuration"});
        const QString path = urls.front().toLocalFile();
        if (QFileInfo(path).isDir())
            useFolder(path);
        else
            loadConfigFile(path);
    });
}

void NewRunScreen::updateStart()
{
    if (!m_start) return;
    QString blocked, state;
    if (const auto problem = m_draft->firstProblem())
        blocked = tr("%1: %2").arg(problem->label, problem->text);
    else if (m_planner->error() && !m_planner->isChecking())
        blocked = shown(m_planner->error()->message());
    if (m_starting) state = tr("Starting …");
    m_start->setEnabled(!m_starting && blocked.isEmpty());
    m_start->setToolTip(blocked.isEmpty() ? tr("Start training (Ctrl+Enter)") : blocked);
    m_state->setText(state.isEmpty() ? blocked.section(QLatin1Char('\n'), 0, 0) : state);
    m_state->setToolTip(blocked);
}

void NewRunScreen::start()
{
    if (!m_draft || m_starting) return;
    if (const auto problem = m_draft->firstProblem()) return m_form->reveal(problem->key);
    if (!m_start->isEnabled()) return;
    const QString file = m_temporary.filePath(QStringLiteral("config.json"));
    if (const Status written = writeFileAtomic(file.toStdString(), m_draft->config().dump(2)); !written)
        return showMessage(tr("The run was not started"), written.error());
    const QString name = m_name->text().trimmed();
    QStringList words{
        QStringLiteral("train"),  QStringLiteral("--detach"), QStringLiteral("--json"), QStringLiteral("--config"), file,
        QStringLiteral("--runs"), m_workspace->folder()};
    if (!name.isEmpty()) words << QStringLiteral("--name") << name;
    m_starting = new session::Job(session::Job::Program::Cli, words, this);
    connect(m_starting, &session::Job::succeeded, this, [this](const config::Json &answer) {
        showStarting(false);
        const auto run = answer.is_object() ? answer.find("run") : answer.end();
        if (run == answer.end() || !run->is_string())
            return showMessage(tr("The run was not started"), {"parallax train did not say where the run is", {}, {}});
        if (const config::Json *source = config::lookup(m_draft->config(), "data.source"); source && source->is_string())
            PathEditor::remember(QString::fromStdString(source->get<std::string>()));
        m_banner->hide();
        m_name->clear();
        m_workspace->refresh();
        Q_EMIT started(QString::fromStdString(run->get<std::string>()));
    });
    connect(m_starting, &session::Job::failed, this, [this](const Error &error) {
        showStarting(false);
        showMessage(tr("The run was not started"), error);
        if (m_draft->field(QString::fromStdString(error.where))) {
            m_draft->setRemoteProblem(QString::fromStdString(error.where), shown(error.what));
            m_form->reveal(QString::fromStdString(error.where));
        }
    });
    showStarting(true);
}

void NewRunScreen::showStarting(bool starting)
{
    if (!starting && m_starting) {
        m_starting->disconnect(this);
        m_starting->deleteLater();
        m_starting = nullptr;
    }
    updateStart();
}

} // namespace parallax::experiment
