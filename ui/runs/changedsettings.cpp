// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/changedsettings.h"

#include "core/base/text.h"
#include "core/config/builtindata.h"
#include "core/session/qtconvert.h"
#include "ui/experiment/localtext.h"

#include <QHash>

#include <algorithm>

namespace parallax::ui {

using config::Field;
using config::Json;
using session::toQString;

namespace {

QString safe(const QString &text) { return toQString(text::printable(text.toStdString())); }

QString valueText(const Field &field, const Json &value)
{
    if (field.key == "data.source" && value.is_string()) return safe(toQString(config::dataLabel(value.get<std::string>())));
    if (value.is_boolean()) return value.get<bool>() ? QStringLiteral("on") : QStringLiteral("off");
    if (value.is_string())
        for (const config::Choice &choice : field.choices)
            if (choice.value == value.get<std::string>()) return toQString(choice.label);
    const QString text = safe(experiment::localText(field, value));
    return field.unit.empty() ? text : text + QLatin1Char(' ') + toQString(field.unit);
}

} // namespace

std::vector<Fact> changedSettings(const config::Schema &schema, const Json &config)
{
    std::vector<Fact> facts;
    const auto fields = schema.applicable(config);
    QHash<QString, int> labels; // "Every" is said by several groups: those give their name as well
    for (const Field *field : fields) ++labels[toQString(field->label)];
    for (const Field *field : fields) {
        const Json *value = config::lookup(config, field->key);
        if (!value || *value == field->defaultValue) continue;
        QString label = toQString(field->label);
        if (labels.value(label) > 1)
            for (const auto &group : schema.groups())
                if (group.name == field->group()) label = toQString(group.label) + QStringLiteral(": ") + label;
        facts.push_back({label, valueText(*field, *value), toQString(field->key)});
    }
    if (!config.is_object()) return facts;
    for (const auto &[group, entries] : config.items()) {
        if (!entries.is_object()) continue;
        for (const auto &[name, value] : entries.items()) {
            std::string key = group;
            key.append(".").append(name);
            const bool known = std::any_of(fields.begin(), fields.end(), [&](const Field *f) { return f->key == key; });
            if (!known) facts.push_back({safe(toQString(key)), safe(experiment::commandText(value)), {}});
        }
    }
    return facts;
}

} // namespace parallax::ui
