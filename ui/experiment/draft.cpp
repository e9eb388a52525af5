// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/draft.h"

#include "core/base/text.h"
#include "ui/experiment/localtext.h"

#include <algorithm>

namespace parallax::experiment {

using config::Field;
using config::Json;

namespace {

/// A path that is basic and has no default is the one thing a person must give.
bool isRequired(const Field &field) { return field.hint == "path" && !field.advanced && field.defaultValue == ""; }

} // namespace

Draft::Draft(config::Schema schema, QObject *parent) : QObject(parent), m_schema(std::move(schema))
{
    m_base.values = Json::object();
    m_baseOwn = m_baseConfig = m_schema.complete(Json::object());
    rebuild();
}

Status Draft::load(const Base &base)
{
    auto resolved = config::resolve(m_schema, {{base.label.toStdString(), base.values}}, {});
    if (!resolved) return resolved.error();
    m_base = base;
    m_baseOwn = m_baseConfig = std::move(*resolved);
    m_edits.clear();
    m_remote.clear();
    rebuild();
    Q_EMIT fieldsChanged();
    Q_EMIT configChanged();
    return {};
}

std::string Draft::idOf(const Field &field)
{
    return field.when ? field.key + '@' + text::join(field.when->values, "|") : field.key;
}

const Draft::Edit *Draft::edit(const Field &field) const
{
    const auto it = m_edits.find(idOf(field));
    return it == m_edits.end() ? nullptr : &it->second;
}

const Field *Draft::field(const QString &key) const
{
    const auto it = std::find_if(m_fields.begin(), m_fields.end(),
                                 [name = key.toStdString()](const Field *field) { return field->key == name; });
    return it == m_fields.end() ? nullptr : *it;
}

/// A preset says more for some methods: what is original follows the method that is chosen.
void Draft::followCases()
{
    const auto cases = m_base.values.find("cases");
    if (cases == m_base.values.end() || !cases->is_object()) return;
    std::vector<std::string> chosen;
    for (const auto &[key, values] : cases->items())
        if (const Field *field = m_schema.find(key, Json::object()); field && value(*field).is_string())
            chosen.push_back(key + '=' + value(*field).get<std::string>());
    if (auto resolved = config::resolve(m_schema, {{m_base.label.toStdString(), m_base.values}}, chosen))
        m_baseConfig = std::move(*resolved);
}

bool Draft::decidesCases(const Field &field) const
{
    const auto cases = m_base.values.find("cases");
    return cases != m_base.values.end() && cases->is_object() && cases->contains(field.key);
}

Json Draft::original(const Field &field) const
{
    if (decidesCases(field))
        if (const Json *value = config::lookup(m_baseOwn, field.key)) return *value;
    if (m_schema.find(field.key, m_baseConfig) == &field)
        if (const Json *value = config::lookup(m_baseConfig, field.key)) return *value;
    return field.defaultValue;
}

Json Draft::value(const Field &field) const
{
    const Edit *found = edit(field);
    return found && found->value ? *found->value : original(field);
}

bool Draft::isChanged(const Field &field) const
{
    const Edit *found = edit(field);
    return found && (found->typed || (found->value && *found->value != original(field)));
}

QString Draft::text(const Field &field) const
{
    const Edit *found = edit(field);
    return found && found->typed ? *found->typed : localText(field, value(field));
}

QString Draft::problem(const Field &field) const
{
    if (const Edit *found = edit(field); found && !found->problem.isEmpty()) return found->problem;
    if (isRequired(field) && value(field) == "") return tr("Choose a folder of images");
    return m_remote.value(QString::fromStdString(field.key));
}

void Draft::setValue(const Field &field, const Json &value)
{
    Edit next;
    next.value = value;
    if (m_schema.checkValue(field, value)) {
        next.problem = needsText(field);
        next.typed = localText(field, value);
        next.value = edit(field) ? edit(field)->value : std::nullopt;
    }
    store(field, std::move(next));
}

void Draft::setText(const Field &field, const QString &text)
{
    if (const auto value = readLocal(m_schema, field, text); value && !m_schema.checkValue(field, *value)) {
        store(field, {value, {}, {}});
        return;
    }
    store(field, {edit(field) ? edit(field)->value : std::nullopt, text, needsText(field)});
}

void Draft::store(const Field &field, Edit next)
{
    const QString key = QString::fromStdString(field.key);
    m_edits[idOf(field)] = std::move(next);
    m_remote.remove(key);
    const Json before = m_config;
    if (rebuild())
        Q_EMIT fieldsChanged();
    else
        Q_EMIT changed(key);
    if (m_config != before) Q_EMIT configChanged();
}

void Draft::reset(const Field &field)
{
    if (!edit(field)) return;
    m_edits.erase(idOf(field));
    m_remote.remove(QString::fromStdString(field.key));
    const QString key = QString::fromStdString(field.key); // `field` stays: the schema does not change
    if (rebuild())
        Q_EMIT fieldsChanged();
    else
        Q_EMIT changed(key);
    Q_EMIT configChanged();
}

void Draft::resetAll()
{
    m_edits.clear();
    m_remote.clear();
    rebuild();
    Q_EMIT fieldsChanged();
    Q_EMIT configChanged();
}

void Draft::setRemoteProblem(const QString &key, const QString &text)
{
    if (m_remote.value(key) == text || !field(key)) return;
    m_remote.insert(key, text);
    Q_EMIT changed(key);
}

void Draft::clearRemoteProblems()
{
    const auto before = std::exchange(m_remote, {});
    for (auto it = before.begin(); it != before.end(); ++it) Q_EMIT changed(it.key());
}

bool Draft::rebuild()
{
    followCases();
    Json config = Json::object();
    for (const Field &field : m_schema.fields())
        if (!field.when) config::assign(config, field.key, value(field));
    auto fields = m_schema.applicable(config);
    for (const Field *field : fields)
        if (field->when) config::assign(config, field->key, value(*field));
    m_config = m_schema.complete(config);
    const bool other = fields != m_fields;
    m_fields = std::move(fields);
    return other;
}

int Draft::changeCount(const std::string &group) const
{
    return int(std::count_if(m_fields.begin(), m_fields.end(), [&](const Field *field) {
        return (group.empty() || field->group() == group) && isChanged(*field);
    }));
}

int Draft::problemCount(const std::string &group) const
{
    return int(std::count_if(m_fields.begin(), m_fields.end(), [&](const Field *field) {
        return (group.empty() || field->group() == group) && !problem(*field).isEmpty();
    }));
}

std::optional<Draft::Problem> Draft::firstProblem() const
{
    for (const Field *field : m_fields) {
        const QString key = QString::fromStdString(field->key), text = problem(*field);
        if (!text.isEmpty() && text != m_remote.value(key)) return Problem{key, QString::fromStdString(field->label), text};
    }
    return {};
}

std::vector<std::array<QString, 3>> Draft::changes() const
{
    std::vector<std::array<QString, 3>> result;
    for (const Field *field : m_fields) {
        const Json was = original(*field), is = value(*field);
        if (was != is) result.push_back({QString::fromStdString(field->key), commandText(was), commandText(is)});
    }
    return result;
}

QStringList Draft::arguments() const
{
    QStringList words = m_base.arguments;
    for (const auto &[key, was, is] : changes()) words << QStringLiteral("--set") << key + QLatin1Char('=') + is;
    return words;
}

} // namespace parallax::experiment
