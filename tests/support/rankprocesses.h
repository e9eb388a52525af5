// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QProcess>
#include <QTemporaryDir>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// Tests over several real processes: the test program starts itself once a rank, and each rank runs a named body.
///
///     static const rankprocesses::Body sums("sums", [](const auto &ranks, const auto &) { rankprocesses::check(…); });
///     void X::sums() { const QByteArray fault = rankprocesses::run("sums", 2); QVERIFY2(fault.isEmpty(), fault); }
///     RANK_TEST_MAIN(X)
namespace rankprocesses {

using Ranks = std::shared_ptr<parallax::dist::Ranks>;
using Function = std::function<void(const Ranks &ranks, const std::string &argument)>;

inline std::map<std::string, Function> &bodies()
{
    static std::map<std::string, Function> map;
    return map;
}

/// Registers what a rank does. It fails by throwing.
struct Body {
    Body(const std::string &name, Function function) { bodies()[name] = std::move(function); }
};

/// Throws `fault` unless it is empty.
inline void check(const std::string &fault)
{
    if (!fault.empty()) throw std::runtime_error(fault);
}
inline void check(bool condition, const std::string &fault)
{
    if (!condition) throw std::runtime_error(fault);
}

/// LibTorch's long warnings would hide what a rank says.
struct NoWarnings : c10::WarningHandler {
    void process(const c10::Warning &) override { }
};

/// For main: the exit code when this process was started as a rank.
inline std::optional<int> runAsRank(int argc, char **argv)
{
    if (argc != 7 || std::string(argv[1]) != "--as-rank") return {};
    torch::set_num_threads(1);
    static NoWarnings noWarnings;
    c10::WarningUtils::set_warning_handler(&noWarnings);
    try {
        parallax::dist::RanksOptions options;
        options.rank = std::stoi(argv[3]);
        options.world = std::stoi(argv[4]);
        options.store = argv[5];
        options.timeoutSeconds = 60; // a busy machine starts processes slowly
        bodies().at(argv[2])(parallax::dist::Ranks::connect(options), argv[6]);
        return 0;
    } catch (const std::exception &exception) {
        std::fprintf(stderr, "rank %s: %s\n", argv[3], exception.what());
        return 1;
    }
}

/// Runs the body on `world` ranks that meet at `store` (none: a new file). Returns what the ranks that failed said; empty: all ended well. None is left behind:
/// those that run at the time-out, or once a rank has failed for `grace` milliseconds, are killed.
inline QByteArray run(const std::string &body, int world, const std::string &argument = {}, const std::string &store = {},
                      int timeoutMs = 90000, int grace = 5000)
{
    QTemporaryDir folder;
    const QString meeting = store.empty() ? folder.filePath("store") : QString::fromStdString(store);
    std::vector<std::unique_ptr<QProcess>> processes;
    for (int rank = 0; rank < world; ++rank) {
        auto process = std::make_unique<QProcess>();
        process->setProcessChannelMode(QProcess::MergedChannels);
        process->start(QCoreApplication::applicationFilePath(),
                       {"--as-rank", QString::fromStdString(body), QString::number(rank), QString::number(world), meeting,
                        QString::fromStdString(argument)});
        processes.push_back(std::move(process));
    }
    QDeadlineTimer deadline(timeoutMs);
    QByteArray faults;
    for (int rank = 0; rank < world; ++rank) {
        QProcess &process = *processes[std::size_t(rank)];
        const bool ended = process.state() == QProcess::NotRunning || process.waitForFinished(int(deadline.remainingTime()));
        if (!ended) {
            process.kill();
            process.waitForFinished();
            faults += "rank " + QByteArray::number(rank) + " did not end\n";
        } else if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) {
            deadline.setRemainingTime(std::min<qint64>(deadline.remainingTime(), grace));
        } else
            continue;
        faults += process.readAll();
    }
    return faults;
}

} // namespace rankprocesses

#define RANK_TEST_MAIN(TestClass)                                                                                           \
    int main(int argc, char **argv)                                                                                         \
    {                                                                                                                       \
        if (const auto code = rankprocesses::runAsRank(argc, argv)) return *code;                                           \
        QCoreApplication app(argc, argv);                                                                                   \
        TestClass test;                                                                                                     \
        return QTest::qExec(&test, argc, argv);                                                                             \
    }
