// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/commandserver.h"

#include "core/base/paths.h"
#include "core/json/strict.h"
#include "core/session/qtconvert.h"

#include <QLocalSocket>

namespace parallax::session {

namespace {

constexpr qint64 longestRequest = 4'096;

} // namespace

CommandServer::CommandServer(Handler handler, StateName state, QObject *parent)
    : QObject(parent), m_handler(std::move(handler)), m_state(std::move(state))
{
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, [this] { accept(); });
}

Status CommandServer::listen(const std::string &id)
{
    const QString path = toQString(paths::runtime() / (id + ".sock"));
    QLocalServer::removeServer(
        path); // of a supervisor that was killed: ids are unique, and the caller checked that it is gone
    if (m_server.listen(path)) return {};
    return Error{"The socket for commands cannot be made: " + m_server.errorString().toStdString(), path.toStdString(),
                 "Check that the folder can be written, or set XDG_RUNTIME_DIR to one that can"};
}

void CommandServer::accept()
{
    while (QLocalSocket *socket = m_server.nextPendingConnection()) {
        connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
        connect(socket, &QLocalSocket::readyRead, this, [this, socket] { answer(socket); });
        answer(socket); // what came before anybody listened
    }
}

void CommandServer::answer(QLocalSocket *socket)
{
    while (socket->canReadLine())
        socket->write(QByteArray::fromStdString(reply(socket->readLine(longestRequest)).dump()) + '\n');
    if (socket->bytesAvailable() >= longestRequest) socket->abort(); // no line of ours is that long
}

nlohmann::ordered_json CommandServer::reply(const QByteArray &line)
{
    const auto parsed = json::parse(line.toStdString());
    const auto *request = std::get_if<json::Json>(&parsed);
    if (!request || !request->is_object() || !request->contains("command") || !(*request)["command"].is_string())
        return {{"ok", false}, {"error", "No command: an object with \"command\" is expected"}};
    const Status done = m_handler((*request)["command"].get<std::string>());
    if (!done) return {{"ok", false}, {"error", done.error().message()}};
    return {{"ok", true}, {"state", m_state()}};
}

} // namespace parallax::session
