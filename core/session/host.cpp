// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/host.h"

#include "core/base/text.h"

#include <QProcess>

#include <chrono>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace parallax::session {

namespace {

/// What git prints; nothing when there is no git, no checkout, or no answer in time.
std::optional<std::string> git(const QStringList &arguments)
{
    constexpr int patienceMs = 2'000;
    QProcess process;
    process.start(QStringLiteral("git"), arguments, QIODevice::ReadOnly);
    if (!process.waitForFinished(patienceMs)) {
        process.kill();
        process.waitForFinished(patienceMs);
        return {};
    }
    if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) return {};
    return text::trimmed(process.readAllStandardOutput().toStdString());
}

} // namespace

std::int64_t ownPid() { return ::getpid(); }

std::string hostName()
{
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

double wallClock() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

void reserveSpace(const std::filesystem::path &file)
{
    constexpr off_t bytes = 64 << 10;
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return;
    const bool full = ::posix_fallocate(fd, 0, bytes) != 0;
    ::close(fd);
    if (full) ::unlink(file.c_str());
}

nlohmann::ordered_json gitState()
{
    const auto commit = git({QStringLiteral("rev-parse"), QStringLiteral("HEAD")});
    if (!commit) return nullptr;
    const auto changes =
        git({QStringLiteral("status"), QStringLiteral("--porcelain"), QStringLiteral("--untracked-files=no")});
    return {{"commit", *commit}, {"dirty", changes && !changes->empty()}};
}

} // namespace parallax::session
