// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFile>
#include <QString>

#include <filesystem>
#include <string>

/// Between Qt's strings and the standard library's: text is UTF-8, paths keep their bytes.
namespace parallax::session {

inline QString toQString(const std::string &text) { return QString::fromUtf8(text.data(), qsizetype(text.size())); }
inline QString toQString(const std::filesystem::path &path) { return QFile::decodeName(path.c_str()); }
inline std::filesystem::path toPath(const QString &path)
{
    return std::filesystem::path(QFile::encodeName(path).toStdString());
}

} // namespace parallax::session
