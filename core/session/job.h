// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <QByteArray>
#include <QObject>
#include <QStringList>

#include <nlohmann/json.hpp>

#include <functional>

class QProcess;

namespace parallax::session {

using Json = nlohmann::ordered_json;

/// A one-shot job of parallax-worker or a call of parallax itself: started now, one JSON document back, never blocks.
/// Deleting the job kills the process.
class Job : public QObject
{
    Q_OBJECT
public:
    enum class Program { Worker, Cli };
    Job(Program program, const QStringList &arguments, QObject *parent = nullptr);
    ~Job() override;

Q_SIGNALS:
    void succeeded(const nlohmann::ordered_json &result);
    /// Also for a program that cannot be started, crashes or prints no JSON; the Error says which.
    void failed(const parallax::Error &error);

private:
    void finish();
    QProcess *m_process;
    QByteArray m_output;
    bool m_done = false;
};

/// The same, waiting: for the command line. `progress` gets every line of stderr as it comes, and says whether it has dealt with
/// it; the others may explain a failure.
Result<Json> runJob(Job::Program program, const QStringList &arguments, int timeoutMs = 120'000,
                    const std::function<bool(const QByteArray &line)> &progress = {});

/// Full path of a sibling executable: $PARALLAX_WORKER for the worker and $PARALLAX_CLI for the command line when set, else
/// beside the running one.
QString programPath(Job::Program program);

/// "SIGKILL" for 9; "signal 99" for one without a name.
std::string signalName(int signal);

} // namespace parallax::session
