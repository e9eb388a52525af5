// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/workspace.h"

#include "core/session/qtconvert.h"
#include "core/session/workspacereader.h"

#include <algorithm>
#include <iterator>

namespace parallax::session {

struct Workspace::Update : WorkspaceUpdate {
};

class Workspace::Reader : public WorkspaceReader
{
    using WorkspaceReader::WorkspaceReader;
};

namespace {

bool newerFirst(const RunSummary &a, const RunSummary &b)
{
    return a.folder > b.folder; // folder names begin with the time
}

} // namespace

Workspace::Workspace(const QString &runsFolder, QObject *parent) : QObject(parent), m_folder(runsFolder)
{
    m_thread.setObjectName(QStringLiteral("workspace"));
    m_reader = new Reader(toPath(runsFolder), [this](WorkspaceUpdate update) {
        auto shared = std::make_shared<WorkspaceUpdate>(std::move(update));
        QMetaObject::invokeMethod(
            this, [this, shared] { take(Update{std::move(*shared)}); }, Qt::QueuedConnection);
    });
    m_reader->moveToThread(&m_thread);
    connect(&m_thread, &QThread::started, m_reader, [reader = m_reader] { reader->start(); });
    connect(&m_thread, &QThread::finished, m_reader, &QObject::deleteLater);
    m_thread.start();
}

Workspace::~Workspace()
{
    m_reader->cancel();
    m_thread.quit();
    m_thread.wait();
}

const RunSummary *Workspace::find(const QString &folder) const
{
    const auto found = std::find_if(m_runs.begin(), m_runs.end(), [&](const auto &run) { return run.folder == folder; });
    return found == m_runs.end() ? nullptr : &*found;
}

void Workspace::refresh()
{
    QMetaObject::invokeMethod(
        m_reader, [reader = m_reader] { reader->scan(true); }, Qt::QueuedConnection);
}

void Workspace::take(Update update)
{
    auto &fresh = update.changed;
    std::sort(fresh.begin(), fresh.end(), newerFirst);
    const auto replaced = [&](const RunSummary &run) {
        return update.removed.contains(run.folder) || std::binary_search(fresh.begin(), fresh.end(), run, newerFirst);
    };
    const bool news = !fresh.empty() || !update.removed.isEmpty();
    if (news) {
        std::erase_if(m_runs, replaced);
        std::vector<RunSummary> merged;
        merged.reserve(m_runs.size() + fresh.size());
        std::merge(std::make_move_iterator(m_runs.begin()), std::make_move_iterator(m_runs.end()),
                   std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()), std::back_inserter(merged),
                   newerFirst);
        m_runs = std::move(merged);
    }
    if (news) emit changed();
    if (!m_read) {
        m_read = true;
        emit firstRead();
    }
}

} // namespace parallax::session
