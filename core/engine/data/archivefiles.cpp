// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/archivefiles.h"

#include "core/base/text.h"
#include "core/engine/data/tarreader.h"

#include <algorithm>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

/// Why no published archive holds such a member; empty: nothing is wrong with it.
std::string suspicious(const TarMember &member)
{
    if (member.name.starts_with('/')) return "lies outside of the archive's folder";
    const auto parts = text::split(member.name, '/');
    if (std::ranges::find(parts, "..") != parts.end()) return "lies outside of the archive's folder";
    if (member.type == '1' || member.type == '2') return "is a link";
    if (!member.isFile() && member.type != '5') return "is neither a file nor a folder";
    return {};
}

} // namespace

Result<NamedStores> filesInFolder(const fs::path &folder, const std::vector<std::string> &names)
{
    NamedStores found;
    for (const auto &name : names) {
        std::error_code error;
        if (!fs::is_regular_file(folder / name, error)) continue;
        auto file = OpenFile::open(folder / name);
        if (!file) return file.error();
        found[name] = std::make_shared<const ByteStore>(std::move(*file));
    }
    return found;
}

Result<NamedStores> filesInArchive(const fs::path &archive, const std::vector<std::string> &wanted, std::size_t limit)
{
    const auto at = [&](const Error &error) { return Error{error.what, text::printable(archive.string()), error.hint}; };
    auto stream = ByteStream::open(archive);
    if (!stream) return stream.error();
    TarReader tar(*stream);
    NamedStores found;
    while (true) {
        auto next = tar.next();
        if (!next) return at(next.error());
        if (!*next) break;
        const TarMember &member = **next;
        const std::string name = member.baseName();
        if (const auto why = suspicious(member); !why.empty())
            return at({"holds " + text::printable(member.name) + ", which " + why + ": this is not the published archive",
                       {},
                       "Load it again from where it is published."});
        if (!member.isFile() || std::ranges::find(wanted, name) == wanted.end()) continue;
        if (found.count(name)) return at({"holds " + name + " twice", {}, "Load it again from where it is published."});
        auto content = tar.content(limit);
        if (!content) return at(content.error());
        found[name] = std::make_shared<const ByteStore>(std::move(*content));
    }
    while (stream->gzip() && stream->skip(std::uint64_t(1) << 20) > 0) { } // to the checksum
    if (stream->trouble() || !stream->ended())
        return at(
            {stream->trouble().value_or("is cut short: its gzip data ends without a checksum"), {}, "Load the file again."});
    return found;
}

std::vector<std::string> namesInArchive(const fs::path &archive, int most)
{
    std::vector<std::string> names;
    auto stream = ByteStream::open(archive);
    if (!stream) return names;
    TarReader tar(*stream);
    for (int i = 0; i < most; ++i) {
        auto member = tar.next();
        if (!member || !*member) break;
        if ((*member)->isFile()) names.push_back((*member)->baseName());
    }
    return names;
}

Result<std::string> contentOf(const ByteStore &store, std::size_t limit)
{
    if (store.size() > limit)
        return Error{"is too large: " + text::bytes(store.size()) + ", at most " + text::bytes(limit) + " are read", {}, {}};
    std::string bytes(std::size_t(store.size()), '\0');
    if (auto status = store.read(0, reinterpret_cast<std::uint8_t *>(bytes.data()), bytes.size()); !status)
        return status.error();
    return bytes;
}

std::vector<std::string> linesOf(std::string_view content)
{
    std::vector<std::string> lines;
    for (const auto &line : text::split(content, '\n'))
        if (auto trimmed = text::trimmed(line); !trimmed.empty()) lines.push_back(text::printable(trimmed));
    return lines;
}

} // namespace parallax::data
