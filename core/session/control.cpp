// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/control.h"

#include "core/session/job.h"
#include "core/session/qtconvert.h"

#include <QLocalSocket>
#include <QTimer>

#include <memory>

namespace parallax::session {

namespace {

constexpr int answerTimeoutMs = 5'000;

QByteArray request(const QString &command)
{
    return QByteArray::fromStdString(Json{{"command", command.toStdString()}}.dump()) + '\n';
}

Status readReply(const QByteArray &line)
{
    const Json reply = Json::parse(line.begin(), line.end(), nullptr, false);
    if (!reply.is_object() || !reply.contains("ok"))
        return Error{"The run's supervisor gave an answer that is none", {}, {}};
    if (reply["ok"] == true) return {};
    const auto error = reply.find("error");
    return Error{error != reply.end() && error->is_string() ? error->get<std::string>() : "The supervisor refused", {}, {}};
}

Error gone(const QLocalSocket &socket)
{
    return {"The run's supervisor does not answer: " + socket.errorString().toStdString(), socket.serverName().toStdString(),
            "The run has ended, or it runs on another machine"};
}

} // namespace

void sendCommand(const QString &path, const QString &command, QObject *context, std::function<void(Status)> done)
{
    auto *socket = new QLocalSocket(context);
    // Once, whatever comes first: an answer, an error, the time-out.
    auto finish = std::make_shared<std::function<void(Status)>>([socket, done = std::move(done)](Status status) {
        socket->disconnect();
        socket->deleteLater();
        done(std::move(status));
    });
    auto *timer = new QTimer(socket);
    timer->setSingleShot(true);
    QObject::connect(socket, &QLocalSocket::connected, socket, [socket, command] { socket->write(request(command)); });
    QObject::connect(socket, &QLocalSocket::readyRead, socket, [socket, timer, finish] {
        if (!socket->canReadLine()) return;
        timer->stop();
        (*finish)(readReply(socket->readLine()));
    });
    QObject::connect(
        socket, &QLocalSocket::errorOccurred, socket,
        [socket, timer, finish] {
            timer->stop();
            (*finish)(gone(*socket));
        },
        Qt::QueuedConnection); // a missing socket fails inside connectToServer
    QObject::connect(timer, &QTimer::timeout, socket, [socket, finish] { (*finish)(gone(*socket)); });
    timer->start(answerTimeoutMs);
    socket->connectToServer(path);
}

Status sendCommandAndWait(const QString &path, const QString &command, int timeoutMs)
{
    QLocalSocket socket;
    socket.connectToServer(path);
    if (!socket.waitForConnected(timeoutMs)) return gone(socket);
    socket.write(request(command));
    while (!socket.canReadLine())
        if (!socket.waitForReadyRead(timeoutMs)) return gone(socket);
    return readReply(socket.readLine());
}

} // namespace parallax::session
