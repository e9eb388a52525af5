// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QString>

#include <archive.h>
#include <archive_entry.h>

#include <string>
#include <vector>

/// Archives and files that the tests of core/datasets are made of.
namespace parallax::testing {

struct Member {
    std::string name, content;
    unsigned type = AE_IFREG;
    std::string link{}; ///< target, of a symbolic link (type AE_IFLNK) or else a hard link
};

/// A .tar.gz of these members.
inline std::string tarGz(const std::vector<Member> &members)
{
    std::string bytes(std::size_t(4) << 20, '\0');
    std::size_t used = 0;
    archive *out = archive_write_new();
    archive_write_add_filter_gzip(out);
    archive_write_set_format_ustar(out);
    archive_write_open_memory(out, bytes.data(), bytes.size(), &used);
    for (const Member &member : members) {
        archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, member.name.c_str());
        archive_entry_set_filetype(entry, member.type);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, std::int64_t(member.content.size()));
        if (!member.link.empty() && member.type == AE_IFLNK)
            archive_entry_set_symlink(entry, member.link.c_str());
        else if (!member.link.empty())
            archive_entry_set_hardlink(entry, member.link.c_str());
        if (archive_write_header(out, entry) != ARCHIVE_OK) qFatal("%s", archive_error_string(out));
        archive_write_data(out, member.content.data(), member.content.size());
        archive_entry_free(entry);
    }
    archive_write_close(out);
    archive_write_free(out);
    bytes.resize(used);
    return bytes;
}

/// Bytes that neither repeat nor pack well.
inline std::string noise(std::size_t count, std::uint32_t seed = 1)
{
    std::string bytes(count, '\0');
    for (char &byte : bytes) {
        seed = seed * 1664525 + 1013904223;
        byte = char(seed >> 24);
    }
    return bytes;
}

inline std::string sha256(const std::string &bytes)
{
    return QCryptographicHash::hash(QByteArrayView(bytes.data(), qsizetype(bytes.size())), QCryptographicHash::Sha256)
        .toHex()
        .toStdString();
}

inline void write(const QString &path, const std::string &bytes)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes.data(), qint64(bytes.size())) != qint64(bytes.size()))
        qFatal("cannot write %s", qPrintable(path));
}

inline std::string read(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : "(missing)";
}

} // namespace parallax::testing
