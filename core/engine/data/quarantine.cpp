// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/quarantine.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/engine/data/filestate.h"
#include "core/engine/data/random.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

/// Of a broken link: a target that comes later ends the quarantine.
constexpr const char *missing = "missing";

} // namespace

Quarantine::Quarantine(const fs::path &lists, const fs::path &root, const std::string &part) : m_root(root)
{
    m_key = fs::absolute(root).lexically_normal().string() + '\n' + part;
    char name[40];
    std::snprintf(name, sizeof name, "%016llx.unreadable",
                  static_cast<unsigned long long>(fnv1a(m_key.data(), m_key.size())));
    m_file = lists / name;
}

Status Quarantine::write(const std::vector<Entry> &entries) const
{
    std::error_code error;
    if (entries.empty()) {
        fs::remove(m_file, error);
        return {};
    }
    Json files = Json::array();
    for (const Entry &entry : entries)
        if (text::isUtf8(entry.path))
            files.push_back({{"path", entry.path},
                             {"state", fileState(m_root / entry.path).value_or(missing)},
                             {"reason", text::printable(entry.reason)}});
    const Json list{
        {"folder", text::isUtf8(m_key) ? m_key : text::printable(m_key)}, {"build", programState()}, {"files", files}};
    fs::create_directories(m_file.parent_path(), error);
    return writeFileAtomic(m_file, list.dump(1));
}

std::map<std::string, std::string> Quarantine::read() const
{
    std::map<std::string, std::string> held;
    const auto bytes = readFile(m_file);
    if (!bytes) return held;
    const Json list = Json::parse(*bytes, nullptr, false);
    if (!list.is_object()) return held;
    const auto is = [](const Json &object, const char *key, const std::string &value) {
        return object.contains(key) && object[key].is_string() && object[key].get_ref<const std::string &>() == value;
    };
    if (!is(list, "folder", text::isUtf8(m_key) ? m_key : text::printable(m_key)) || !is(list, "build", programState()) ||
        !list.contains("files") || !list["files"].is_array())
        return held;
    for (const Json &file : list["files"]) {
        if (!file.is_object() || !file.contains("path") || !file["path"].is_string()) continue;
        const std::string path = file["path"];
        if (is(file, "state", fileState(m_root / path).value_or(missing)))
            held[path] = file.contains("reason") && file["reason"].is_string() ? file["reason"].get<std::string>() : "";
    }
    return held;
}

} // namespace parallax::data
