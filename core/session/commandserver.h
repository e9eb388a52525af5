// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <QLocalServer>
#include <QObject>
#include <QString>

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

class QLocalSocket;

namespace parallax::session {

/// The supervisor's local socket: one JSON object a line in, one answer a line out. Only the owner may connect.
class CommandServer : public QObject
{
    Q_OBJECT
public:
    /// Carries out a command ("pause"), or says why not; `state` of the answer is asked for afterwards.
    using Handler = std::function<Status(const std::string &command)>;
    using StateName = std::function<std::string()>;
    CommandServer(Handler handler, StateName state, QObject *parent = nullptr);

    /// Listens on a socket called after `id` in the user's private folder.
    Status listen(const std::string &id);
    QString path() const { return m_server.fullServerName(); }
    void close() { m_server.close(); }

private:
    void accept();
    void answer(QLocalSocket *socket);
    nlohmann::ordered_json reply(const QByteArray &line);

    Handler m_handler;
    StateName m_state;
    QLocalServer m_server;
};

} // namespace parallax::session
