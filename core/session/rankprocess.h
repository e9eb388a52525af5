// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QStringList>

#include <filesystem>
#include <string>

namespace parallax::session {

/// One rank's process: in a group of its own, so that the terminal's Ctrl-C reaches only the supervisor, and asked to end
/// when the supervisor is gone. Destroying it kills the process.
class RankProcess : public QObject
{
    Q_OBJECT
public:
    RankProcess(int rank, QObject *parent = nullptr);
    ~RankProcess() override;

    /// Starts $PARALLAX_WORKER; stderr is appended to `log`.
    void start(const QStringList &arguments, const std::filesystem::path &log);
    /// A word on the rank's stdin; never blocks, whether it is read or not.
    void send(const QByteArray &command);
    void terminate();
    void kill();

    int rank() const { return m_rank; }
    bool running() const { return m_process.state() != QProcess::NotRunning; }
    bool stopped() const;                          ///< by SIGSTOP: alive, but it does nothing
    bool endedByUs() const { return m_signalled; } ///< a signal of ours came before its end
    int signal() const { return m_signal; }        ///< that ended it; 0: none
    int exitCode() const { return m_exitCode; }
    const std::string &startError() const { return m_startError; } ///< the program could not be started: why

Q_SIGNALS:
    void ended();

private:
    int m_rank;
    QProcess m_process;
    bool m_signalled = false;
    int m_signal = 0, m_exitCode = 0;
    std::string m_startError;
};

} // namespace parallax::session
