// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/runactions.h"

#include "core/session/control.h"
#include "core/session/job.h"
#include "core/session/qtconvert.h"
#include "core/session/runname.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QGuiApplication>
#include <QRegularExpression>
#include <QUrl>

namespace parallax::ui {

using session::RunSummary;
using session::toQString;

namespace {

QString quoted(const QString &word)
{
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
    if (plain.match(word).hasMatch()) return word;
    QString inner = word;
    inner.replace(QLatin1Char('\''), QStringLiteral("'\\''"));
    return QLatin1Char('\'') + inner + QLatin1Char('\'');
}

} // namespace

bool RunActions::canStop(const RunSummary &run)
{
    return run.record.state == runs::State::Running || run.record.state == runs::State::Paused;
}

bool RunActions::canPause(const RunSummary &run) { return run.record.state == runs::State::Running; }

bool RunActions::canResume(const RunSummary &run)
{
    return run.record.state == runs::State::Paused || run.record.state == runs::State::Failed ||
        run.record.state == runs::State::Interrupted;
}

QString RunActions::commandLine(const runs::RunRecord &record)
{
    QStringList words;
    for (const std::string &word : record.command) words << quoted(toQString(word));
    return words.join(QLatin1Char(' '));
}

void RunActions::send(const RunSummary &run, const QString &command)
{
    const QString name = session::runName(run);
    session::sendCommand(toQString(run.record.socket), command, this, [this, name, command](const Status &status) {
        if (!status)
            Q_EMIT failed(name + QStringLiteral(": ") + toQString(status.error().message()));
        else if (command == QLatin1String("checkpoint"))
            Q_EMIT done(tr("%1 writes a checkpoint at its next step").arg(name));
    });
}

void RunActions::resume(const RunSummary &run)
{
    if (run.record.state == runs::State::Paused) {
        send(run, QStringLiteral("resume"));
        return;
    }
    const QString name = session::runName(run);
    auto *job =
        new session::Job(session::Job::Program::Cli,
                         {QStringLiteral("resume"), run.folder, QStringLiteral("--detach"), QStringLiteral("--json")}, this);
    connect(job, &session::Job::succeeded, this, [this, job, name] {
        job->deleteLater();
        Q_EMIT done(tr("%1 goes on").arg(name));
    });
    connect(job, &session::Job::failed, this, [this, job, name](const Error &error) {
        job->deleteLater();
        Q_EMIT failed(name + QStringLiteral(": ") + toQString(error.message()));
    });
}

void RunActions::reveal(const RunSummary &run)
{
    if (!QDesktopServices::openUrl(QUrl::fromLocalFile(run.folder)))
        Q_EMIT failed(tr("No file manager opened %1").arg(run.folder));
}

void RunActions::copyCommand(const RunSummary &run)
{
    QGuiApplication::clipboard()->setText(commandLine(run.record));
    Q_EMIT done(tr("Command copied"));
}

} // namespace parallax::ui
