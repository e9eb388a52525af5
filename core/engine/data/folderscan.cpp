// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/folderscan.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <set>

#include <sys/stat.h>

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

std::string lowered(std::string s)
{
    for (char &c : s) c = char(std::tolower(static_cast<unsigned char>(c)));
    return s;
}

bool startsLikeImage(const fs::path &file)
{
    std::array<char, 8> head{};
    std::ifstream in(file, std::ios::binary);
    in.read(head.data(), head.size());
    const std::string_view read(head.data(), std::size_t(in.gcount()));
    return std::ranges::any_of(signatures, [&](std::string_view s) { return read.starts_with(s); });
}

class Walker
{
public:
    explicit Walker(fs::path root) : m_root(std::move(root)) { }

    FolderScan run()
    {
        walk({});
        // Linked folders after all real ones: an image that lies in the tree keeps its own path.
        while (!m_links.empty()) walk(m_links.extract(m_links.begin()).value());
        std::ranges::sort(m_scan.files);
        return std::move(m_scan);
    }

private:
    void walk(const std::string &relative)
    {
        struct stat info;
        const fs::path folder = m_root / relative;
        if (::stat(folder.c_str(), &info) != 0 || !m_seen.insert({info.st_dev, info.st_ino}).second) return;
        std::error_code error;
        fs::directory_iterator it(folder, error);
        if (error) {
            ++m_scan.passedOver["folder without permission"];
            return;
        }
        for (; it != fs::directory_iterator(); it.increment(error)) {
            if (error) break;
            visit(*it, relative.empty() ? it->path().filename().string() : relative + '/' + it->path().filename().string());
        }
    }

    void visit(const fs::directory_entry &entry, std::string relative)
    {
        std::error_code error;
        const std::string name = entry.path().filename().string();
        const bool hidden = name.starts_with('.');
        if (entry.is_directory(error)) {
            if (hidden || std::ranges::find(systemFolders, name) != systemFolders.end())
                ++m_scan.passedOver["system folder"];
            else if (entry.is_symlink(error))
                m_links.insert(std::move(relative));
            else
                walk(relative);
        } else if (hidden) {
            ++m_scan.passedOver["hidden"];
        } else if (!entry.is_regular_file(error) && !(entry.is_symlink(error) && !entry.exists(error))) {
            ++m_scan.passedOver["special file"]; // opening a pipe would wait for ever
        } else if (isImage(entry.path())) {
            m_scan.files.push_back(std::move(relative)); // a broken link among them: it is reported as unreadable
        } else {
            const std::string extension = lowered(entry.path().extension().string());
            ++m_scan.passedOver[extension.empty() ? "without extension" : text::printable(extension)];
        }
    }

    static bool isImage(const fs::path &file)
    {
        const std::string extension = lowered(file.extension().string());
        return extension.empty() ? startsLikeImage(file) : std::ranges::find(extensions, extension) != extensions.end();
    }

    fs::path m_root;
    FolderScan m_scan;
    std::set<std::pair<dev_t, ino_t>> m_seen;
    std::set<std::string> m_links;
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

Result<FolderScan> scanFolder(const fs::path &root)
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
    return Walker(root).run();
}

} // namespace parallax::data
