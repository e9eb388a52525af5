// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/atomicfile.h"
#include "core/runs/events.h"
#include "core/runs/runrecord.h"
#include "core/session/host.h"
#include "core/session/qtconvert.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <csignal>
#include <vector>

namespace parallax::testing {

/// A place of its own for one test: runs, cache and sockets in a temporary folder, the fake worker instead of the real one.
/// Whatever process still names the folder at the end is killed.
class Sandbox
{
public:
    Sandbox()
    {
        set("PARALLAX_WORKER", QStringLiteral(PARALLAX_TEST_BIN_DIR "/fakeworker"));
        set("PARALLAX_CLI", QStringLiteral(PARALLAX_BIN_DIR "/parallax"));
        set("PARALLAX_RUNS", m_dir.filePath(QStringLiteral("runs")));
        set("XDG_CACHE_HOME", m_dir.filePath(QStringLiteral("cache")));
        set("XDG_RUNTIME_DIR", m_dir.filePath(QStringLiteral("run")));
        set("NO_COLOR", QStringLiteral("1"));
        qunsetenv("FAKEWORKER");
        QDir(m_dir.path()).mkdir(QStringLiteral("runs"));
        QDir(m_dir.path()).mkdir(QStringLiteral("run"));
    }
    ~Sandbox()
    {
        qunsetenv("FAKEWORKER");
        for (const qint64 pid : processes()) ::kill(pid_t(pid), SIGKILL);
    }

    static void set(const char *name, const QString &value) { qputenv(name, value.toUtf8()); }
    /// What the fake worker does wrong: tests/support/fakescript.h.
    static void script(const char *words) { qputenv("FAKEWORKER", words); }

    QString path(const QString &name = {}) const { return name.isEmpty() ? m_dir.path() : m_dir.filePath(name); }
    QString runs() const { return path(QStringLiteral("runs")); }

    /// Processes whose command line names a file of this sandbox.
    std::vector<qint64> processes() const
    {
        std::vector<qint64> found;
        const QByteArray mark = m_dir.path().toUtf8();
        for (const QString &entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
            bool number = false;
            const qint64 pid = entry.toLongLong(&number);
            QFile file(QStringLiteral("/proc/%1/cmdline").arg(entry));
            if (number && file.open(QIODevice::ReadOnly) && file.readAll().contains(mark)) found.push_back(pid);
        }
        return found;
    }

    struct Output {
        int code = -1;
        QByteArray out, err;
    };
    /// `parallax WORDS…`, to its end.
    Output parallax(const QStringList &words, int timeoutMs = 30'000) const
    {
        QProcess process;
        process.setWorkingDirectory(path());
        process.start(qEnvironmentVariable("PARALLAX_CLI"), words);
        Output output;
        if (process.waitForFinished(timeoutMs) && process.exitStatus() == QProcess::NormalExit)
            output.code = process.exitCode();
        process.kill();
        process.waitForFinished();
        output.out = process.readAllStandardOutput();
        output.err = process.readAllStandardError();
        return output;
    }

    /// A run folder as the command line makes it, ready to be supervised.
    runs::RunFolder makeRun(int world = 1, int epochs = 3) const
    {
        auto folder = runs::RunFolder::create(session::toPath(runs()), "simclr");
        if (!folder) qFatal("%s", folder.error().message().c_str());
        const runs::Json config{{"data", {{"source", "fashion-mnist"}}},
                                {"method", {{"name", "simclr"}}},
                                {"backbone", {{"name", "resnet18"}}},
                                {"train", {{"epochs", epochs}, {"batch_size", 64}}}};
        runs::RunRecord record;
        record.id = folder->id();
        record.state = runs::State::Queued;
        record.created = session::wallClock();
        record.world = world;
        record.devices.assign(std::size_t(world), "cpu");
        if (!writeFileAtomic(folder->config(), config.dump()) || !record.save(*folder)) qFatal("the run cannot be written");
        return *folder;
    }

    /// A finished run with `steps` steps in its events; nobody ever ran it.
    runs::RunFolder makeFinishedRun(int steps = 10, const std::string &name = {}) const
    {
        const runs::RunFolder folder = makeRun(1, 2);
        auto record = runs::RunRecord::load(folder);
        auto events = runs::EventWriter::open(folder.events(0));
        if (!record || !events) qFatal("the run cannot be read");
        record->state = runs::State::Finished;
        record->name = name;
        record->ended = record->created + 1;
        bool ok =
            record->save(folder).ok() && events->write("start", {{"step", 0}, {"epoch", 0.0}, {"resumed", false}}).ok();
        for (int step = 1; step <= steps; ++step)
            ok = ok && events->write("metrics", {{"step", step}, {"epoch", step / 5.0}, {"loss", 5.0 - step * 0.1}}).ok();
        ok = ok && events->write("eval", {{"step", steps}, {"epoch", steps / 5.0}, {"knn_top1", 0.7}}).ok();
        if (!ok) qFatal("the run cannot be written");
        return folder;
    }

private:
    QTemporaryDir m_dir;
};

} // namespace parallax::testing
