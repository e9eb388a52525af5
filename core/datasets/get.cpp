// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/datasets/get.h"

#include "core/base/atomicfile.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/datasets/unpack.h"

#include <QUrl>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace parallax::datasets {

namespace fs = std::filesystem;

namespace {

/// A path or a URL as a URL.
std::string asUrl(const std::string &place)
{
    if (place.find("://") != std::string::npos || place.starts_with("file:")) return place;
    std::string path = fs::absolute(place).lexically_normal().string();
    if (place.ends_with('/') && !path.ends_with('/')) path += '/';
    return QUrl::fromLocalFile(QString::fromUtf8(path.data(), qsizetype(path.size()))).toEncoded().toStdString();
}

/// Where one of the set's files is, given --url.
std::string placeOf(const RemoteFile &file, const Published &set, const std::string &url)
{
    if (url.empty()) return file.url;
    std::error_code error;
    const bool folder = url.ends_with('/') || set.files.size() > 1 || fs::is_directory(url, error);
    std::string place = asUrl(url);
    if (!folder) return place;
    if (!place.ends_with('/')) place += '/';
    return place + file.name();
}

/// What is there already of the files counts.
Status checkSpace(const Published &set, const fs::path &to, const fs::path &staging)
{
    std::uint64_t needed = set.size() + (set.archive ? set.unpacked : 0);
    for (const RemoteFile &file : set.files)
        for (const char *suffix : {"", ".part"}) {
            std::error_code error;
            const std::uintmax_t size = fs::file_size((staging / file.name()).string() + suffix, error);
            if (!error) needed -= std::min<std::uint64_t>(size, needed);
        }
    const std::uint64_t free = paths::freeSpace(to);
    if (free >= needed) return {};
    return Error{"not enough room: " + text::bytes(needed) + " are needed while it is unpacked, " + text::bytes(free) +
                     " are free",
                 text::printable(to.string()), "Free some space, or choose another place with --to."};
}

/// Held while a data set is loaded and unpacked: two processes never work in one folder.
class FolderLock
{
public:
    explicit FolderLock(const fs::path &folder) : m_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    {
        m_held = m_fd >= 0 && ::flock(m_fd, LOCK_EX | LOCK_NB) == 0;
    }
    ~FolderLock()
    {
        if (m_fd >= 0) ::close(m_fd);
    }
    FolderLock(const FolderLock &) = delete;
    FolderLock &operator=(const FolderLock &) = delete;
    bool held() const { return m_held; }

private:
    int m_fd;
    bool m_held;
};

Status removeOurs(const fs::path &folder)
{
    std::error_code error;
    fs::remove_all(folder, error);
    return error ? Status(systemError(error.value(), folder, "removed")) : Status();
}

/// The folder that holds the data set's parts: `folder` itself, or the only folder in it, as archives have it.
Result<fs::path> rootOf(const Published &set, const fs::path &folder)
{
    const auto missing = missingPart(set, folder);
    if (!missing) return folder;
    std::error_code error;
    fs::path only;
    int entries = 0;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error), ++entries)
        only = it->path();
    std::optional<std::string> inner = missing;
    if (entries == 1 && fs::is_directory(fs::symlink_status(only, error))) inner = missingPart(set, only);
    if (!inner) return only;
    return Error{"the archive is not laid out as " + std::string(set.id.label) + " is published: " + *inner,
                 {},
                 "Take the published file."};
}

Status becomes(const fs::path &whole, const fs::path &folder)
{
    // All of it is on the disk before it has its name: a power cut must not leave empty files under it.
    if (const int fd = ::open(whole.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); fd >= 0) {
        const bool synced = ::syncfs(fd) == 0;
        const int reason = errno;
        ::close(fd);
        if (!synced) return systemError(reason, whole, "written");
    }
    if (std::rename(whole.c_str(), folder.c_str()) != 0) return systemError(errno, folder, "made");
    return {};
}

Status load(const Published &set, const GetRequest &request, const fs::path &staging, const Hooks &hooks)
{
    for (const RemoteFile &file : set.files) {
        Download download = request.patience;
        download.url = placeOf(file, set, request.url);
        download.file = staging / file.name();
        download.sha256 = request.sha256.empty() ? file.sha256 : request.sha256;
        download.size = request.sha256.empty() ? file.size : 0;
        if (auto status = datasets::download(download, hooks); !status) return status;
    }
    return {};
}

} // namespace

Result<Got> get(const Published &set, const GetRequest &request, const Hooks &hooks)
{
    const fs::path to = request.to.empty() ? paths::datasets() : fs::absolute(request.to);
    const fs::path folder = to / set.id.name, staging = to / ('.' + std::string(set.id.name) + ".loading");
    std::error_code error;
    if (fs::exists(fs::symlink_status(folder, error))) {
        const auto missing = missingPart(set, folder);
        if (!missing) return Got{folder, true};
        return Error{"is there already, but is not " + std::string(set.id.label) + " as a whole: " + *missing,
                     text::printable(folder.string()), "Move it away, or choose another place with --to."};
    }
    if (!request.sha256.empty() && set.files.size() > 1)
        return Error{"it consists of several files, each with its own published checksum", "--sha256", "Leave it out."};
    fs::create_directories(staging, error);
    if (error) return systemError(error.value(), staging, "made");
    const FolderLock lock(staging);
    if (!lock.held())
        return Error{"another process is loading it", text::printable(staging.string()), "Wait until that one is done."};
    if (auto status = checkSpace(set, to, staging); !status) return status.error();
    if (auto status = load(set, request, staging, hooks); !status) return status.error();

    fs::path whole = staging;
    if (set.archive) {
        const fs::path unpacked = staging / "unpacked";
        if (auto status = removeOurs(unpacked); !status) return status.error();
        const UnpackLimits limits{set.unpacked * 2};
        Status status = unpack(staging / set.files.front().name(), unpacked, limits, hooks);
        const auto root = status ? rootOf(set, unpacked) : Result<fs::path>(status.error());
        if (!root) {
            (void)removeOurs(unpacked);
            return root.error();
        }
        whole = *root;
    } else if (const auto missing = missingPart(set, staging)) {
        return Error{"it is not complete: " + *missing, text::printable(staging.string()), {}};
    }
    if (auto status = becomes(whole, folder); !status) return status.error();
    if (auto status = removeOurs(staging); !status) hooks.say(status.error().message());
    return Got{folder, false};
}

} // namespace parallax::datasets
