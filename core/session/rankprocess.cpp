// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/rankprocess.h"

#include "core/base/atomicfile.h"
#include "core/session/job.h"
#include "core/session/qtconvert.h"

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace parallax::session {

namespace {

constexpr int notStartedCode = 127; // as a shell has it

} // namespace

RankProcess::RankProcess(int rank, QObject *parent) : QObject(parent), m_rank(rank)
{
    m_process.setChildProcessModifier([] {
        ::setpgid(0, 0);
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    });
    connect(&m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        (status == QProcess::CrashExit ? m_signal : m_exitCode) = code;
        emit ended();
    });
    // Queued, as the other way to end is: nobody hears of an end while start() has not returned.
    connect(
        &m_process, &QProcess::errorOccurred, this,
        [this](QProcess::ProcessError error) {
            if (error != QProcess::FailedToStart) return;
            m_exitCode = notStartedCode;
            m_startError = m_process.errorString().toStdString();
            emit ended();
        },
        Qt::QueuedConnection);
}

RankProcess::~RankProcess()
{
    m_process.disconnect(this);
    if (!running()) return;
    m_process.kill();
    m_process.waitForFinished(2'000);
}

void RankProcess::start(const QStringList &arguments, const std::filesystem::path &log)
{
    m_process.setProgram(programPath(Job::Program::Worker));
    m_process.setArguments(arguments);
    m_process.setStandardOutputFile(QProcess::nullDevice());
    m_process.setStandardErrorFile(toQString(log), QIODevice::Append);
    m_process.start(QIODevice::WriteOnly);
}

void RankProcess::send(const QByteArray &command)
{
    if (running()) m_process.write(command + '\n');
}

void RankProcess::terminate()
{
    if (!running()) return;
    m_signalled = true;
    m_process.terminate();
}

void RankProcess::kill()
{
    if (!running()) return;
    m_signalled = true;
    m_process.kill();
}

bool RankProcess::stopped() const
{
    if (!running()) return false;
    const auto stat = readFile("/proc/" + std::to_string(m_process.processId()) + "/stat", 1 << 16);
    const auto bracket = stat ? stat->rfind(')') : std::string::npos;
    return bracket != std::string::npos && bracket + 2 < stat->size() && (*stat)[bracket + 2] == 'T';
}

} // namespace parallax::session
