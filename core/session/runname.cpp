// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/runname.h"

#include "core/base/text.h"
#include "core/config/builtindata.h"
#include "core/session/qtconvert.h"
#include "core/session/settings.h"
#include "core/session/summary.h"

#include <QStringList>

#include <mutex>
#include <optional>

namespace parallax::session {

namespace {

QString joined(const QString &method, const QString &dataset, std::int64_t batch)
{
    QStringList parts{method, dataset, batch > 0 ? QStringLiteral("b%1").arg(batch) : QString()};
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

std::string textAt(const config::Json &config, const char *key)
{
    const config::Json *value = config::lookup(config, key);
    return value && value->is_string() ? value->get<std::string>() : std::string();
}

QString safe(const QString &text) { return toQString(text::printable(text.toStdString())); }

} // namespace

QString runName(const RunSummary &run)
{
    if (!run.record.name.empty()) return safe(toQString(run.record.name));
    const QString made = joined(run.method, run.dataset, run.batchSize);
    return safe(made.isEmpty() ? run.folder.section(QLatin1Char('/'), -1, -1, QString::SectionSkipEmpty) : made);
}

QString defaultRunName(const config::Json &config)
{
    const config::Json *batch = config::lookup(config, "train.batch_size");
    return safe(joined(choiceLabel("method.name", toQString(textAt(config, "method.name"))),
                       toQString(config::dataLabel(textAt(config, "data.source"))),
                       batch && batch->is_number_integer() ? batch->get<std::int64_t>() : 0));
}

QString choiceLabel(const char *key, const QString &value)
{
    static std::mutex mutex;
    static std::optional<config::Schema> schema;
    const std::lock_guard lock(mutex);
    if (!schema) schema = cachedSchema();
    const config::Field *field = schema ? schema->find(key, config::Json::object()) : nullptr;
    if (!field) return value;
    for (const config::Choice &choice : field->choices)
        if (choice.value == value.toStdString() && !choice.label.empty()) return toQString(choice.label);
    return value;
}

} // namespace parallax::session
