// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/folderindex.h"

#include "core/base/atomicfile.h"
#include "core/engine/data/random.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

/// Change it with the format, and with what counts as an image by name or first bytes (folderscan.cpp).
constexpr std::uint32_t version = 1;
constexpr std::uint32_t byteOrder = 0x01020304; ///< another machine's index in a shared home reads differently
constexpr std::size_t mostIndexes = 64;

struct Header {
    char magic[8];
    std::uint32_t version, byteOrder;
    std::uint64_t bytes, checksum; ///< of all that follows
};
constexpr char magic[8] = {'P', 'L', 'X', 'I', 'N', 'D', 'E', 'X'};

std::string nameOf(const fs::path &root)
{
    std::string name = fs::absolute(root).lexically_normal().string();
    while (name.size() > 1 && name.ends_with('/')) name.pop_back();
    return name;
}

class Writer
{
public:
    template<class T>
    void number(T value)
    {
        bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
    }
    void text(std::string_view value)
    {
        number(std::uint64_t(value.size()));
        bytes += value;
    }
    void texts(const std::vector<std::string> &values)
    {
        number(std::uint64_t(values.size()));
        for (const auto &value : values) text(value);
    }
    std::string bytes;
};

/// Reads what Writer wrote. Whatever does not fit sets `bad` and gives zeros: no length is trusted.
class Reader
{
public:
    explicit Reader(std::string_view bytes) : m_left(bytes) { }
    bool bad = false;

    template<class T>
    T number()
    {
        T value{};
        const auto part = take(sizeof value);
        if (!bad) std::memcpy(&value, part.data(), sizeof value);
        return value;
    }
    std::string_view text() { return take(number<std::uint64_t>()); }
    /// A count of things that take at least `each` bytes.
    std::size_t count(std::size_t each)
    {
        const auto n = number<std::uint64_t>();
        if (n > m_left.size() / each) bad = true;
        return bad ? 0 : std::size_t(n);
    }
    std::vector<std::string> texts()
    {
        std::vector<std::string> values(count(8));
        for (auto &value : values) value = text();
        return values;
    }
    std::string_view take(std::uint64_t n)
    {
        if (n > m_left.size()) bad = true;
        if (bad) return {};
        const auto part = m_left.substr(0, n);
        m_left.remove_prefix(n);
        return part;
    }
    bool atEnd() const { return m_left.empty(); }

private:
    std::string_view m_left;
};

void write(Writer &out, const FolderRecord &record)
{
    out.text(record.path);
    out.number(record.device);
    out.number(record.inode);
    out.number(record.time);
    out.texts(record.folders);
    out.texts(record.links);
    out.number(std::uint64_t(record.unnamed.size()));
    for (const UnnamedFile &file : record.unnamed) {
        out.text(file.name);
        out.number(file.size);
        out.number(file.time);
        out.number(std::uint8_t(file.image));
    }
    out.number(std::uint64_t(record.passedOver.size()));
    for (const auto &[kind, count] : record.passedOver) {
        out.text(kind);
        out.number(count);
    }
}

FolderRecord readRecord(Reader &in)
{
    FolderRecord record;
    record.path = in.text();
    record.device = in.number<std::uint64_t>();
    record.inode = in.number<std::uint64_t>();
    record.time = in.number<std::int64_t>();
    record.folders = in.texts();
    record.links = in.texts();
    record.unnamed.resize(in.count(25));
    for (UnnamedFile &file : record.unnamed) {
        file.name = in.text();
        file.size = in.number<std::uint64_t>();
        file.time = in.number<std::int64_t>();
        file.image = in.number<std::uint8_t>() != 0;
    }
    for (std::size_t left = in.count(16); left > 0; --left) {
        const std::string kind(in.text());
        record.passedOver[kind] = in.number<std::int64_t>();
    }
    return record;
}

/// The payload of an index; nothing for what is none.
std::optional<std::string_view> payload(std::string_view bytes)
{
    Header header;
    if (bytes.size() < sizeof header) return {};
    std::memcpy(&header, bytes.data(), sizeof header);
    bytes.remove_prefix(sizeof header);
    const bool ours = std::memcmp(header.magic, magic, sizeof magic) == 0 && header.version == version &&
        header.byteOrder == byteOrder && header.bytes == bytes.size();
    if (!ours || XXH3_64bits(bytes.data(), bytes.size()) != header.checksum) return {};
    return bytes;
}

void removeOldest(const fs::path &indexes)
{
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code error;
    for (fs::directory_iterator it(indexes, error), end; !error && it != end; it.increment(error))
        if (it->path().extension() == ".index") files.emplace_back(it->last_write_time(error), it->path());
    if (files.size() <= mostIndexes) return;
    std::ranges::sort(files);
    for (std::size_t i = 0; i + mostIndexes < files.size(); ++i) fs::remove(files[i].second, error);
}

} // namespace

fs::path indexFile(const fs::path &indexes, const fs::path &root)
{
    const std::string name = nameOf(root);
    char hash[32];
    std::snprintf(hash, sizeof hash, "%016llx.index", static_cast<unsigned long long>(fnv1a(name.data(), name.size())));
    return indexes / hash;
}

std::optional<FolderIndex> readIndex(const fs::path &indexes, const fs::path &root)
{
    const auto bytes = readFile(indexFile(indexes, root), std::size_t(16) << 30);
    if (!bytes) return {};
    const auto found = payload(*bytes);
    if (!found) return {};
    Reader in(*found);
    if (in.text() != nameOf(root)) return {};
    FolderIndex index;
    index.folders.resize(in.count(64));
    for (FolderRecord &record : index.folders) record = readRecord(in);
    const std::size_t files = in.count(4);
    const std::string_view lengths = in.take(files * 4), paths = in.text();
    if (in.bad || !in.atEnd()) return {};
    index.files.reserve(files, paths.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < files; ++i) {
        std::uint32_t length = 0;
        std::memcpy(&length, lengths.data() + i * 4, 4);
        if (length > paths.size() - at) return {};
        index.files.add(paths.substr(at, length));
        at += length;
    }
    return index;
}

Status writeIndex(const fs::path &indexes, const fs::path &root, const FolderIndex &index)
{
    Writer out;
    out.bytes.reserve(index.files.bytes().size() + index.files.size() * 4 + index.folders.size() * 128 + 4096);
    out.text(nameOf(root));
    out.number(std::uint64_t(index.folders.size()));
    for (const FolderRecord &record : index.folders) write(out, record);
    out.number(std::uint64_t(index.files.size()));
    for (std::size_t i = 0; i < index.files.size(); ++i) out.number(std::uint32_t(index.files[i].size()));
    out.text(index.files.bytes());
    Header header{{}, version, byteOrder, out.bytes.size(), XXH3_64bits(out.bytes.data(), out.bytes.size())};
    std::memcpy(header.magic, magic, sizeof magic);

    std::error_code error;
    fs::create_directories(indexes, error);
    auto file = AtomicFile::create(indexFile(indexes, root));
    if (!file) return file.error();
    if (auto status = file->write(&header, sizeof header); !status) return status;
    if (auto status = file->write(out.bytes.data(), out.bytes.size()); !status) return status;
    if (auto status = file->commit(); !status) return status;
    removeOldest(indexes);
    return {};
}

} // namespace parallax::data
