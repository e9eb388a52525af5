// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/folderscan.h"

#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/engine/data/folderindex.h"

#include <array>
#include <cctype>
#include <ctime>
#include <memory>
#include <numeric>
#include <set>
#include <unordered_map>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

using namespace std::string_view_literals;

/// The last five are images that Parallax does not read: they count as unreadable and are named, not passed over.
constexpr std::array extensions{".jpg"sv, ".jpeg"sv, ".jpe"sv,  ".jfif"sv, ".png"sv, ".apng"sv, ".webp"sv, ".bmp"sv,
                                ".dib"sv, ".tif"sv,  ".tiff"sv, ".gif"sv,  ".ppm"sv, ".pgm"sv,  ".pbm"sv,  ".pnm"sv,
                                ".mpo"sv, ".avif"sv, ".heic"sv, ".heif"sv, ".jp2"sv, ".jxl"sv};
constexpr std::array systemFolders{"__MACOSX"sv, "@eaDir"sv, "$RECYCLE.BIN"sv, "System Volume Information"sv,
                                   "lost+found"sv};
constexpr std::array signatures{"\xFF\xD8\xFF"sv, "\x89PNG\r\n"sv, "RIFF"sv, "GIF8"sv, "II*\0"sv, "MM\0*"sv};

/// Several changes may share one time on a file system that counts coarsely: a folder that changed so shortly before it was
/// listed may have changed again unseen.
constexpr std::int64_t settled = 2'000'000'000; // ns

std::int64_t nanoseconds(const timespec &time) { return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec; }

std::int64_t now()
{
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    return nanoseconds(time);
}

/// ".jpg" of "A.JPG"; nothing of "name" and ".hidden".
std::string extensionOf(std::string_view name)
{
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return {};
    std::string extension(name.substr(dot));
    for (char &c : extension) c = char(std::tolower(static_cast<unsigned char>(c)));
    return extension;
}

std::string joined(const std::string &folder, std::string_view name)
{
    std::string path = folder;
    if (!path.empty()) path += '/';
    return path += name;
}

/// A file without extension: what its first bytes make it, and by what a change of it shows.
UnnamedFile examine(int folder, const char *name)
{
    UnnamedFile file{name};
    const int fd = ::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return file;
    struct stat info;
    if (::fstat(fd, &info) == 0) {
        file.size = std::uint64_t(info.st_size);
        file.time = nanoseconds(info.st_mtim);
    }
    std::array<char, 8> head{};
    const ssize_t n = ::pread(fd, head.data(), head.size(), 0);
    ::close(fd);
    const std::string_view read(head.data(), std::size_t(std::max<ssize_t>(n, 0)));
    file.image = std::ranges::any_of(signatures, [&](std::string_view s) { return read.starts_with(s); });
    return file;
}

/// Lists one folder.
class Lister
{
public:
    explicit Lister(FolderRecord &record) : m_record(record) { }

    void list(const fs::path &folder)
    {
        const std::unique_ptr<DIR, int (*)(DIR *)> stream(::opendir(folder.c_str()), ::closedir);
        if (!stream) {
            ++m_record.passedOver["folder without permission"];
            m_record.time = 0;
            return;
        }
        m_fd = ::dirfd(stream.get());
        while (const dirent *entry = ::readdir(stream.get())) {
            const std::string_view name(entry->d_name);
            if (name != "." && name != "..") visit(entry->d_name, entry->d_type);
        }
        std::ranges::sort(m_record.folders);
        std::ranges::sort(m_record.links);
    }

private:
    void visit(const char *name, unsigned char type)
    {
        struct stat info;
        if (type == DT_UNKNOWN && ::fstatat(m_fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0) type = IFTODT(info.st_mode);
        const bool link = type == DT_LNK;
        bool broken = false;
        if (link) {
            broken = ::fstatat(m_fd, name, &info, 0) != 0;
            type = static_cast<unsigned char>(broken ? int(DT_REG) : int(IFTODT(info.st_mode)));
            if (broken) m_record.time = 0; // its target may come without a change here
        }
        const bool hidden = *name == '.';
        if (type == DT_DIR) {
            if (hidden || std::ranges::find(systemFolders, name) != systemFolders.end())
                ++m_record.passedOver["system folder"];
            else
                (link ? m_record.links : m_record.folders).emplace_back(name);
        } else if (hidden) {
            ++m_record.passedOver["hidden"];
        } else if (type != DT_REG) {
            ++m_record.passedOver["special file"]; // opening a pipe would wait for ever
        } else if (isImage(name)) {
            m_record.files.append(name).push_back('\0'); // a broken link among them: it is reported as unreadable
        } else {
            const std::string extension = extensionOf(name);
            ++m_record.passedOver[extension.empty() ? "without extension" : text::printable(extension)];
        }
    }

    bool isImage(const char *name)
    {
        const std::string extension = extensionOf(name);
        if (!extension.empty()) return std::ranges::find(extensions, extension) != extensions.end();
        m_record.unnamed.push_back(examine(m_fd, name));
        return m_record.unnamed.back().image;
    }

    FolderRecord &m_record;
    int m_fd = -1;
};

/// Goes through a tree level by level, the folders of a level in parallel. What is found does not depend on the order in which
/// the system lists folders.
class Walker
{
public:
    Walker(fs::path root, FolderIndex *known, int threads)
        : m_root(std::move(root)), m_known(known), m_threads(threads), m_start(now())
    {
        if (!known) return;
        for (const FolderRecord &record : known->folders) m_byPath.emplace(record.path, &record);
    }

    FolderIndex run()
    {
        std::vector<std::string> level{std::string()};
        std::set<std::string> links;
        while (!level.empty() || !links.empty()) {
            // Linked folders after all real ones: an image that lies in the tree keeps its own path.
            if (level.empty()) level.push_back(links.extract(links.begin()).value());
            std::vector<Visit> visits(level.size());
            parallelFor(std::int64_t(level.size()), m_threads,
                        [&](std::int64_t i) { visits[std::size_t(i)] = visit(std::move(level[std::size_t(i)])); });
            level.clear();
            for (Visit &visit : visits) {
                FolderRecord &record = visit.record;
                if (!visit.found || !m_seen.insert({record.device, record.inode}).second) continue;
                for (const auto &name : record.folders) level.push_back(joined(record.path, name));
                for (const auto &name : record.links) links.insert(joined(record.path, name));
                ++(visit.kept ? m_kept : m_read);
                m_index.folders.push_back(std::move(record));
            }
            std::ranges::sort(level);
        }
        if (m_known && m_read == 0 && m_kept == m_known->folders.size())
            m_index.files = std::move(m_known->files);
        else
            collectFiles();
        return std::move(m_index);
    }
    std::size_t kept() const { return m_kept; }
    std::size_t read() const { return m_read; }

private:
    struct Visit {
        FolderRecord record;
        bool found = false, kept = false;
    };

    Visit visit(std::string relative) const
    {
        Visit visit;
        struct stat info;
        const fs::path folder = m_root / relative;
        if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return visit;
        visit.found = true;
        const std::int64_t time = nanoseconds(info.st_mtim);
        if (const auto known = m_byPath.find(relative); known != m_byPath.end()) {
            const FolderRecord &record = *known->second;
            visit.kept = record.time != 0 && record.time == time && record.device == info.st_dev &&
                record.inode == info.st_ino && unchanged(folder, record.unnamed);
            if (visit.kept) {
                visit.record = record;
                visit.record.kept = true;
                return visit;
            }
        }
        visit.record.path = std::move(relative);
        visit.record.device = info.st_dev;
        visit.record.inode = info.st_ino;
        visit.record.time = time < m_start - settled ? time : 0;
        if (!m_seen.contains({info.st_dev, info.st_ino})) Lister(visit.record).list(folder);
        return visit;
    }

    static bool unchanged(const fs::path &folder, const std::vector<UnnamedFile> &files)
    {
        return std::ranges::all_of(files, [&](const UnnamedFile &file) {
            struct stat info;
            return ::stat((folder / file.name).c_str(), &info) == 0 && std::uint64_t(info.st_size) == file.size &&
                nanoseconds(info.st_mtim) == file.time;
        });
    }

    /// The listings of folders that were kept are in the old index, by path.
    void takeKnownFiles()
    {
        std::unordered_map<std::string_view, FolderRecord *> wanted;
        for (FolderRecord &record : m_index.folders) wanted.emplace(record.path, &record);
        for (std::size_t i = 0; i < m_known->files.size(); ++i) {
            const std::string_view path = m_known->files[i];
            const auto slash = path.rfind('/');
            const auto record = wanted.find(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash));
            if (record == wanted.end() || !record->second->kept) continue;
            record->second->files.append(path.substr(slash + 1)).push_back('\0'); // npos + 1 is 0
        }
    }

    void collectFiles()
    {
        if (m_kept > 0) takeKnownFiles();
        std::string bytes; // all paths in a row, unsorted
        std::vector<std::pair<std::uint64_t, std::uint32_t>> places;
        for (FolderRecord &record : m_index.folders) {
            for (std::size_t at = 0; at < record.files.size();) {
                const std::string_view name(record.files.c_str() + at);
                const std::size_t begin = bytes.size();
                bytes += record.path;
                if (!record.path.empty()) bytes += '/';
                bytes += name;
                places.emplace_back(begin, std::uint32_t(bytes.size() - begin));
                at += name.size() + 1;
            }
            record.files = {};
        }
        const auto path = [&](const auto &place) { return std::string_view(bytes).substr(place.first, place.second); };
        std::ranges::sort(places, {}, path);
        m_index.files.reserve(places.size(), bytes.size());
        for (const auto &place : places) m_index.files.add(path(place));
    }

    fs::path m_root;
    FolderIndex *m_known;
    int m_threads;
    std::int64_t m_start;
    std::unordered_map<std::string_view, const FolderRecord *> m_byPath;
    std::set<std::pair<std::uint64_t, std::uint64_t>> m_seen; ///< (device, inode)
    FolderIndex m_index;
    std::size_t m_kept = 0, m_read = 0;
};

} // namespace

std::int64_t FolderScan::skipped() const
{
    std::int64_t sum = 0;
    for (const auto &[kind, count] : passedOver) sum += count;
    return sum;
}

std::string FolderScan::remark() const
{
    if (passedOver.empty()) return {};
    std::vector<std::pair<std::string, std::int64_t>> kinds(passedOver.begin(), passedOver.end());
    std::ranges::stable_sort(kinds, [](const auto &a, const auto &b) { return a.second > b.second; });
    constexpr std::size_t named = 6;
    std::vector<std::string> parts;
    std::int64_t others = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (i < named)
            parts.push_back(std::to_string(kinds[i].second) + ' ' + kinds[i].first);
        else
            others += kinds[i].second;
    }
    if (others > 0) parts.push_back(std::to_string(others) + " other");
    return "passed over " + std::to_string(skipped()) + " that are not images: " + text::join(parts, ", ");
}

Result<FolderScan> scanFolder(const fs::path &root, const ScanOptions &options)
{
    std::error_code error;
    const auto status = fs::status(root, error);
    if (!fs::exists(status)) return Error{"there is no such folder", text::printable(root.string()), "Check the path."};
    if (!fs::is_directory(status))
        return Error{"is not a folder", text::printable(root.string()), "Choose the folder that holds the images."};
    fs::directory_iterator first(root, error);
    if (error)
        return Error{"the folder may not be read: " + error.message(), text::printable(root.string()),
                     "Check its permissions."};
    auto known = readIndex(options.indexes, root);
    const int threads = options.threads > 0 ? options.threads : std::max(4, 2 * int(std::thread::hardware_concurrency()));
    Walker walker(root, known ? &*known : nullptr, threads);
    FolderIndex index = walker.run();
    if (walker.read() > 0 && index.files.size() + index.folders.size() >= options.indexFrom)
        (void)writeIndex(options.indexes, root, index); // without room for it, the next scan lists all again

    FolderScan scan;
    scan.foldersRead = walker.read();
    scan.foldersKept = walker.kept();
    for (const FolderRecord &record : index.folders)
        for (const auto &[kind, count] : record.passedOver) scan.passedOver[kind] += count;
    scan.files = std::move(index.files);
    return scan;
}

} // namespace parallax::data
