// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/signals.h"

#include <QSocketNotifier>

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace parallax::session {

namespace {

constexpr std::array watched{SIGINT, SIGTERM, SIGHUP};
std::array<int, 2> pipeEnds{-1, -1};

/// A handler may do next to nothing: the number goes down a pipe, the event loop reads it.
void passOn(int signal)
{
    const int before = errno;
    const auto number = static_cast<unsigned char>(signal);
    [[maybe_unused]] const auto written = ::write(pipeEnds[1], &number, 1);
    errno = before;
}

} // namespace

UnixSignals::UnixSignals(QObject *parent) : QObject(parent)
{
    if (::pipe2(pipeEnds.data(), O_CLOEXEC | O_NONBLOCK) != 0) return; // the defaults stay: a signal ends the program
    m_notifier = new QSocketNotifier(pipeEnds[0], QSocketNotifier::Read, this);
    connect(m_notifier, &QSocketNotifier::activated, this, [this] {
        unsigned char number = 0;
        while (::read(pipeEnds[0], &number, 1) == 1) emit received(number);
    });
    struct sigaction action {
    };
    action.sa_handler = passOn;
    action.sa_flags = SA_RESTART;
    for (const int signal : watched) ::sigaction(signal, &action, nullptr);
}

UnixSignals::~UnixSignals()
{
    for (const int signal : watched) ::signal(signal, SIG_DFL);
    delete m_notifier;
    for (int &end : pipeEnds)
        if (end >= 0) ::close(std::exchange(end, -1));
}

} // namespace parallax::session
