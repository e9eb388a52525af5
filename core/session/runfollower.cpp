// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/runfollower.h"

#include "core/session/qtconvert.h"
#include "core/session/runreader.h"

#include <QElapsedTimer>
#include <QTimer>

#include <algorithm>
#include <functional>

namespace parallax::session {

namespace {

constexpr int intervalMs = 100;
constexpr int budgetMs = 200; // of reading before a long run is shown as far as it is known

} // namespace

/// Lives in the follower's thread; what it hands over is a copy that nobody changes any more.
class RunFollower::Reader : public QObject
{
public:
    using Deliver = std::function<void(std::shared_ptr<const RunData>)>; ///< null: the folder vanished

    Reader(const QString &folder, Deliver deliver)
        : m_reader(runs::RunFolder(toPath(folder))), m_deliver(std::move(deliver)), m_timer(this)
    {
        m_timer.setSingleShot(true);
        connect(&m_timer, &QTimer::timeout, this, [this] { read(); });
    }

    void read()
    {
        if (!m_reader.exists()) {
            if (!m_vanished) m_deliver(nullptr);
            m_vanished = true;
            m_timer.start(10 * intervalMs);
            return;
        }
        m_vanished = false;
        int pause = intervalMs;
        if (m_reader.poll(budgetMs) || !m_delivered) {
            m_delivered = true;
            QElapsedTimer timer;
            timer.start();
            m_deliver(std::make_shared<const RunData>(m_reader.data()));
            // Copying a run of a million steps takes a while: no more than a tenth of the time goes there.
            pause = std::max(pause, int(10 * timer.elapsed()));
        }
        m_timer.start(pause);
    }

private:
    RunReader m_reader;
    Deliver m_deliver;
    QTimer m_timer;
    bool m_vanished = false, m_delivered = false;
};

RunFollower::RunFollower(const QString &folder, QObject *parent)
    : QObject(parent), m_folder(folder), m_data(std::make_shared<const RunData>())
{
    m_thread.setObjectName(QStringLiteral("run follower"));
    m_reader = new Reader(folder, [this](std::shared_ptr<const RunData> data) {
        QMetaObject::invokeMethod(
            this,
            [this, data = std::move(data)] {
                if (data) {
                    m_data = data;
                    emit updated();
                } else {
                    emit vanished();
                }
            },
            Qt::QueuedConnection);
    });
    m_reader->moveToThread(&m_thread);
    connect(&m_thread, &QThread::started, m_reader, [reader = m_reader] { reader->read(); });
    connect(&m_thread, &QThread::finished, m_reader, &QObject::deleteLater);
    m_thread.start();
}

RunFollower::~RunFollower()
{
    m_thread.quit();
    m_thread.wait();
}

} // namespace parallax::session
