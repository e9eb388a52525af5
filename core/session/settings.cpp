// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/settings.h"

#include "core/base/atomicfile.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/config/builtindata.h"
#include "core/session/job.h"
#include "core/session/qtconvert.h"
#include "core/session/runname.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>

// The resources lie in a static library: without this call the linker would drop them. Not inside a namespace.
static void initPresets() { Q_INIT_RESOURCE(presets); }

namespace parallax::session {

namespace {

constexpr int keptSchemas = 8; // of workers that were built or chosen before

std::filesystem::path cacheFile()
{
    const QFileInfo worker(programPath(Job::Program::Worker));
    if (!worker.exists()) return {};
    const QString key = QStringLiteral("%1|%2|%3")
                            .arg(worker.canonicalFilePath())
                            .arg(worker.size())
                            .arg(worker.lastModified().toMSecsSinceEpoch());
    const QByteArray digest = QCryptographicHash::hash(key.toUtf8(), QCryptographicHash::Sha1).toHex().left(16);
    return paths::cache() / ("schema-" + digest.toStdString() + ".json");
}

void writeCache(const std::filesystem::path &file, const Json &schema)
{
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error || !writeFileAtomic(file, schema.dump())) return; // a cache that cannot be written costs time, nothing else
    QDir folder(toQString(file.parent_path()));
    const QStringList old = folder.entryList({QStringLiteral("schema-*.json")}, QDir::Files, QDir::Time);
    for (qsizetype i = keptSchemas; i < old.size(); ++i) folder.remove(old[i]);
}

QString value(const config::Json &values, const char *key)
{
    const config::Json *found = config::lookup(values, key);
    return found && found->is_string() ? toQString(found->get<std::string>()) : QString();
}

QString labelOf(const QString &name, const config::Json &values)
{
    if (const auto given = values.find("label"); given != values.end() && given->is_string())
        return toQString(given->get<std::string>());
    QString label = name;
    label[0] = label[0].toUpper();
    const QString method = value(values, "method.name"), source = value(values, "data.source");
    if (!method.isEmpty()) label += QStringLiteral(": ") + choiceLabel("method.name", method);
    if (!source.isEmpty()) label += QStringLiteral(" on ") + toQString(config::dataLabel(source.toStdString()));
    return label;
}

} // namespace

std::optional<config::Schema> cachedSchema()
{
    const auto file = cacheFile();
    if (file.empty()) return {};
    const auto text = readFile(file, std::size_t(16) << 20);
    if (!text) return {};
    const Json json = Json::parse(*text, nullptr, false);
    if (json.is_discarded()) return {};
    auto schema = config::Schema::fromJson(json);
    if (!schema) return {};
    return std::move(schema).value();
}

Result<config::Schema> loadSchema()
{
    if (auto cached = cachedSchema()) return std::move(*cached);
    auto json = runJob(Job::Program::Worker, {QStringLiteral("schema")});
    if (!json) return json.error();
    auto schema = config::Schema::fromJson(*json);
    if (schema) writeCache(cacheFile(), *json);
    return schema;
}

std::vector<Preset> presets()
{
    initPresets();
    std::vector<Preset> all;
    const QDir folder(QStringLiteral(":/presets"));
    for (const QString &entry : folder.entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
        QFile file(folder.filePath(entry));
        if (!file.open(QIODevice::ReadOnly)) continue;
        auto values = config::parseStrict(file.readAll().toStdString(), "preset " + entry.toStdString());
        if (!values) continue; // a test reads every preset strictly
        const QString name = QFileInfo(entry).completeBaseName();
        const QString label = labelOf(name, *values);
        values->erase("label"); // for the chooser; no setting
        all.push_back({name, label, std::move(values).value()});
    }
    std::stable_partition(all.begin(), all.end(), [](const Preset &preset) { return preset.name == QLatin1String("demo"); });
    return all;
}

Result<Preset> findPreset(const QString &name)
{
    std::vector<std::string> names;
    for (Preset &preset : presets()) {
        if (preset.name == name) return std::move(preset);
        names.push_back(preset.name.toStdString());
    }
    const auto near = text::nearest(name.toStdString(), names);
    std::string hint = near ? "Did you mean " + *near + "? " : std::string();
    hint += "There is: " + text::join(names, ", ");
    return Error{"There is no preset named \"" + text::printable(name.toStdString()) + "\"", {}, hint};
}

} // namespace parallax::session
