// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/workspace.h"

#include <QObject>
#include <QString>

class QMenu;

namespace parallax::ui {

/// What a person can do with a run, wherever it is shown. Everything answers later; what goes wrong is told by failed().
class RunActions : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;

    static bool canStop(const session::RunSummary &run);
    static bool canPause(const session::RunSummary &run);
    static bool canResume(const session::RunSummary &run); ///< paused, failed or interrupted
    /// The command line that started the run, quoted for a shell.
    static QString commandLine(const runs::RunRecord &record);

    void pause(const session::RunSummary &run) { send(run, QStringLiteral("pause")); }
    void checkpoint(const session::RunSummary &run) { send(run, QStringLiteral("checkpoint")); }
    void stop(const session::RunSummary &run) { send(run, QStringLiteral("stop")); }
    /// Goes on where the run stands: a paused one by its supervisor, an ended one by `parallax resume`.
    void resume(const session::RunSummary &run);
    void reveal(const session::RunSummary &run);
    void copyCommand(const session::RunSummary &run);

Q_SIGNALS:
    void done(const QString &message);
    void failed(const QString &message);

private:
    void send(const session::RunSummary &run, const QString &command);
};

} // namespace parallax::ui
