// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFutureWatcher>
#include <QPromise>
#include <QThreadPool>

#include <memory>
#include <utility>

namespace parallax::ui {

/// Runs `work` in a thread of the pool and hands its value to `done` in the thread of `context`. `done` is dropped when
/// `context` is gone by then. `work` must not touch widgets or anything that another thread changes.
template<class Work, class Done>
void inBackground(QObject *context, Work work, Done done)
{
    using Value = decltype(work());
    auto promise = std::make_shared<QPromise<Value>>();
    auto *watcher = new QFutureWatcher<Value>(context);
    QObject::connect(watcher, &QFutureWatcherBase::finished, context, [watcher, done = std::move(done)]() mutable {
        watcher->deleteLater();
        done(watcher->future().takeResult());
    });
    watcher->setFuture(promise->future());
    QThreadPool::globalInstance()->start([promise, work = std::move(work)]() mutable {
        promise->start();
        promise->addResult(work());
        promise->finish();
    });
}

} // namespace parallax::ui
