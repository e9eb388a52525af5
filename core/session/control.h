// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <QObject>
#include <QString>

#include <functional>

namespace parallax::session {

/// Sends one command ("pause", "resume", "checkpoint", "stop", "kill") to the supervisor that listens on `socket`.
/// `done` is called once, in the event loop of `context`, with what it answered; a supervisor that is gone is an Error.
void sendCommand(const QString &socket, const QString &command, QObject *context, std::function<void(Status)> done);
/// The same, waiting up to `timeoutMs`: for the command line.
Status sendCommandAndWait(const QString &socket, const QString &command, int timeoutMs = 5'000);

} // namespace parallax::session
