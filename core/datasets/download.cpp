// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/datasets/download.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/datasets/transfer.h"

#include <QCryptographicHash>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace parallax::datasets {

namespace fs = std::filesystem;

namespace {

/// The file in the making.
class PartFile
{
public:
    static Result<PartFile> open(const fs::path &path)
    {
        const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0) return systemError(errno, path, "written");
        return PartFile(fd, path);
    }
    PartFile(PartFile &&other) noexcept : m_fd(std::exchange(other.m_fd, -1)), m_path(std::move(other.m_path)) { }
    PartFile &operator=(PartFile &&) = delete;
    ~PartFile()
    {
        if (m_fd >= 0) ::close(m_fd);
    }
    int fd() const { return m_fd; }
    std::uint64_t size() const
    {
        const off_t end = ::lseek(m_fd, 0, SEEK_END);
        return end < 0 ? 0 : std::uint64_t(end);
    }
    void empty() { (void)!::ftruncate(m_fd, 0); }
    void remove() { ::unlink(m_path.c_str()); }
    Status becomes(const fs::path &whole)
    {
        if (::fsync(m_fd) != 0) return systemError(errno, m_path, "written");
        if (::rename(m_path.c_str(), whole.c_str()) != 0) return systemError(errno, whole, "written");
        return {};
    }

private:
    PartFile(int fd, fs::path path) : m_fd(fd), m_path(std::move(path)) { }
    int m_fd;
    fs::path m_path;
};

/// Waits, but not when cancelled.
void rest(std::chrono::milliseconds pause, const Hooks &hooks)
{
    constexpr std::chrono::milliseconds step{20};
    for (const auto end = std::chrono::steady_clock::now() + pause; std::chrono::steady_clock::now() < end;) {
        if (hooks.isCancelled()) return;
        std::this_thread::sleep_for(step);
    }
}

std::string at(std::uint64_t bytes) { return bytes > 0 ? " at " + text::bytes(bytes) : std::string(); }

/// All bytes into the part, over as many attempts as it takes. Returns true when they came in more than one piece.
Result<bool> fill(PartFile &part, const Download &request, const Hooks &hooks)
{
    bool pieces = part.size() > 0;
    int fruitless = 0;
    for (;;) {
        const std::uint64_t before = part.size();
        if (request.size > 0 && before == request.size) return pieces;
        if (request.size > 0 && before > request.size) part.empty();
        const Transfer transfer = fetch(request, part.fd(), hooks);
        if (transfer.end == Transfer::End::Whole) return pieces && !transfer.fromStart;
        if (transfer.end == Transfer::End::Cancelled) return cancelledError();
        if (transfer.end == Transfer::End::Hopeless) return transfer.error;
        fruitless = part.size() > before ? 0 : fruitless + 1;
        if (fruitless >= request.attempts) return transfer.error;
        const int doublings = std::clamp(fruitless - 1, 0, 4);
        hooks.say(transfer.error.what + at(part.size()) + "; trying again");
        rest(std::max(request.pause * (1 << doublings), transfer.retryAfter), hooks);
        if (hooks.isCancelled()) return cancelledError();
        pieces = pieces || part.size() > 0;
    }
}

Error wrongChecksum(const Download &request, const std::string &found)
{
    return {"what the server sent is not the published file: its SHA-256 is " + found + ", not " + request.sha256,
            text::printable(request.url), "Try again, or name another place with --url."};
}

} // namespace

Error cancelledError() { return {"interrupted", {}, "The same command goes on from here."}; }

Result<std::string> sha256Of(const fs::path &file, const std::string &name, const Hooks &hooks)
{
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return systemError(errno, file, "read");
    std::error_code ignored;
    const std::uint64_t total = fs::file_size(file, ignored);
    QCryptographicHash hash(QCryptographicHash::Sha256);
    std::vector<char> buffer(1 << 20);
    std::uint64_t done = 0;
    for (;;) {
        const ssize_t n = hooks.isCancelled() ? 0 : ::read(fd, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            const int reason = errno;
            ::close(fd);
            if (n < 0) return systemError(reason, file, "read");
            if (hooks.isCancelled()) return cancelledError();
            return hash.result().toHex().toStdString();
        }
        hash.addData(QByteArrayView(buffer.data(), n));
        done += std::uint64_t(n);
        hooks.tell("checking " + name, done, total);
    }
}

Status download(const Download &request, const Hooks &hooks)
{
    const std::string name = request.file.filename().string();
    const auto rightAlready = [&](const fs::path &file) -> Result<bool> {
        auto found = sha256Of(file, name, hooks);
        if (!found) return found.error();
        return *found == request.sha256;
    };
    std::error_code error;
    if (fs::exists(request.file, error)) {
        const auto right = rightAlready(request.file);
        if (!right) return right.error();
        if (*right) return {};
        fs::remove(request.file, error);
    }
    const fs::path partPath = request.file.string() + ".part";
    auto part = PartFile::open(partPath);
    if (!part) return part.error();
    for (int round = 0;; ++round) {
        const auto pieces = fill(*part, request, hooks);
        if (!pieces) return pieces.error();
        const auto found = sha256Of(partPath, name, hooks);
        if (!found) return found.error();
        if (*found == request.sha256) return part->becomes(request.file);
        part->empty();
        if (round > 0 || !*pieces) {
            part->remove();
            return wrongChecksum(request, *found);
        }
        hooks.say("the pieces of " + name + " do not make the published file: loading it anew");
    }
}

} // namespace parallax::datasets
