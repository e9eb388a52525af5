// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/job.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/session/qtconvert.h"

#include <QDeadlineTimer>
#include <QProcess>

#include <csignal>
#include <cstring>
#include <sys/prctl.h>

namespace parallax::session {

namespace {

constexpr qsizetype outputLimit = 64 << 20; // no job's answer comes near; a runaway one does not fill the memory

std::string calledAs(const QProcess &process)
{
    const QString program = process.program().section(QLatin1Char('/'), -1);
    return (program + QLatin1Char(' ') + process.arguments().value(0)).toStdString();
}

/// The end of what the program said on stderr, for a message: one line.
std::string lastWords(const QByteArray &said)
{
    const QByteArray words = said.right(2'000).trimmed();
    return text::printable(words.mid(words.lastIndexOf('\n') + 1).toStdString());
}

Error notStarted(const QProcess &process)
{
    return {calledAs(process) + " cannot be started: " + process.errorString().toStdString(),
            process.program().toStdString(), "Build it, or point PARALLAX_WORKER (PARALLAX_CLI) at the program"};
}

std::string member(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Waits for the end; false: too long. `said` gets the lines of stderr that `progress` leaves.
bool follow(QProcess &process, int timeoutMs, const std::function<bool(const QByteArray &)> &progress, QByteArray &said)
{
    const QDeadlineTimer deadline(timeoutMs);
    process.setReadChannel(QProcess::StandardError);
    const auto take = [&] {
        while (process.canReadLine())
            if (const QByteArray line = process.readLine(); !progress(line)) said = (said + line).right(4'000);
    };
    while (process.state() != QProcess::NotRunning && !deadline.hasExpired()) {
        process.waitForReadyRead(int(deadline.remainingTime()));
        take();
    }
    take();
    return process.state() == QProcess::NotRunning;
}

Result<Json> readAnswer(const QProcess &process, const QByteArray &output, const QByteArray &said)
{
    if (process.exitStatus() == QProcess::CrashExit) {
        const std::string what = calledAs(process) + " was ended by " + signalName(process.exitCode());
        return Error{what, {}, lastWords(said)};
    }
    if (output.size() > outputLimit) return Error{calledAs(process) + " printed too much to be an answer", {}, {}};
    Json answer = Json::parse(output.begin(), output.end(), nullptr, false);
    if (answer.is_discarded()) {
        const std::string code = std::to_string(process.exitCode());
        return Error{calledAs(process) + " printed no JSON (exit code " + code + ")", {}, lastWords(said)};
    }
    const auto error = answer.is_object() ? answer.find("error") : answer.end();
    if (error != answer.end() && error->is_object())
        return Error{member(*error, "what"), member(*error, "where"), member(*error, "hint")};
    if (process.exitCode() != 0)
        return Error{
            calledAs(process) + " failed with exit code " + std::to_string(process.exitCode()), {}, lastWords(said)};
    return answer;
}

void setUp(QProcess &process, Job::Program program, const QStringList &arguments)
{
    process.setProgram(programPath(program));
    process.setArguments(arguments);
    process.setStandardInputFile(QProcess::nullDevice());
    if (program == Job::Program::Worker) // a job has no use once its caller is gone; a detached supervisor has
        process.setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
}

} // namespace

Job::Job(Program program, const QStringList &arguments, QObject *parent) : QObject(parent), m_process(new QProcess(this))
{
    setUp(*m_process, program, arguments);
    connect(m_process, &QProcess::readyReadStandardOutput, this, [this] {
        m_output += m_process->readAllStandardOutput();
        if (m_output.size() > outputLimit) m_process->kill();
    });
    connect(m_process, &QProcess::finished, this, [this] { finish(); });
    // Queued: a program that is not there fails inside start(), before anybody can be connected to this job.
    connect(
        m_process, &QProcess::errorOccurred, this,
        [this](QProcess::ProcessError error) {
            if (error != QProcess::FailedToStart || m_done) return;
            m_done = true;
            emit failed(notStarted(*m_process));
        },
        Qt::QueuedConnection);
    m_process->start(QIODevice::ReadOnly);
}

Job::~Job()
{
    m_process->disconnect(this);
    if (m_process->state() == QProcess::NotRunning) return;
    m_process->kill();
    m_process->waitForFinished(1'000);
}

void Job::finish()
{
    if (m_done) return;
    m_done = true;
    m_output += m_process->readAllStandardOutput();
    const auto answer = readAnswer(*m_process, m_output, m_process->readAllStandardError());
    if (answer)
        emit succeeded(*answer);
    else
        emit failed(answer.error());
}

Result<Json> runJob(Job::Program program, const QStringList &arguments, int timeoutMs,
                    const std::function<bool(const QByteArray &)> &progress)
{
    QProcess process;
    setUp(process, program, arguments);
    process.start(QIODevice::ReadOnly);
    if (!process.waitForStarted()) return notStarted(process);
    QByteArray said;
    const bool ended = progress ? follow(process, timeoutMs, progress, said) : process.waitForFinished(timeoutMs);
    said += process.readAllStandardError();
    if (!ended) {
        process.kill();
        process.waitForFinished(1'000);
        const std::string seconds = text::duration(timeoutMs / 1000.0);
        return Error{calledAs(process) + " gave no answer within " + seconds, {}, lastWords(said)};
    }
    return readAnswer(process, process.readAllStandardOutput(), said);
}

QString programPath(Job::Program program)
{
    const bool worker = program == Job::Program::Worker;
    QString chosen = qEnvironmentVariable(worker ? "PARALLAX_WORKER" : "PARALLAX_CLI");
    if (!chosen.isEmpty()) return chosen;
    return toQString(paths::executableDir() / (worker ? "parallax-worker" : "parallax"));
}

std::string signalName(int signal)
{
    const char *name = sigabbrev_np(signal);
    return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

} // namespace parallax::session
