// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/config/check.h"

#include "core/base/text.h"
#include "core/config/values.h"

#include <algorithm>

namespace parallax::config {

namespace {

/// What is wrong with one number or text of the right type, if anything.
std::optional<std::string> entryProblem(const Field &field, const Json &value)
{
    if (value.is_number() && (field.min || field.max)) {
        const double number = value.get<double>();
        if (field.min && number < *field.min) return "is below the smallest allowed value";
        if (field.min && field.exclusiveMin && number == *field.min) return "is not allowed, only what lies above it";
        if (field.max && number > *field.max) return "is above the largest allowed value";
    }
    if (field.choices.empty()) return {};
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (std::ranges::find(field.choices, text, &Choice::value) != field.choices.end()) return {};
    return "is none of the choices";
}

std::string nearestChoice(const Field &field, const Json &value)
{
    std::vector<std::string> values;
    for (const Choice &choice : field.choices) values.push_back(choice.value);
    return value.is_string() ? text::nearest(value.get<std::string>(), values).value_or("") : std::string();
}

std::string typeProblem(const Field &field, const Json &value)
{
    if (field.type == Type::Int && value.is_number_float()) return "is not a whole number";
    if (field.type == Type::Int && value.is_number()) return "is too large";
    return "has the wrong type";
}

void addUnique(std::vector<std::string> &list, const std::string &entry)
{
    if (!std::ranges::count(list, entry)) list.push_back(entry);
}

/// Names of the settings of a group that apply to `config`.
std::vector<std::string> namesOf(const Schema &schema, const std::string &group, const Json &config)
{
    std::vector<std::string> names;
    for (const Field *field : schema.applicable(config))
        if (field->group() == group) names.push_back(field->name());
    return names;
}

/// Keys of all groups whose name, without the group, is `name`.
std::vector<std::string> keysNamed(const Schema &schema, const std::string &name)
{
    std::vector<std::string> keys;
    for (const Field &field : schema.fields())
        if (field.name() == name) addUnique(keys, field.key);
    return keys;
}

/// A key that no condition of the schema makes known. First who has the very same name elsewhere, then the nearest ones.
Issue unknownKey(const Schema &schema, const std::string &group, const std::string &name, const Json &value,
                 const Json &config)
{
    const std::vector<std::string> names = namesOf(schema, group, config);
    std::vector<std::string> meant = keysNamed(schema, name);
    if (const auto near = text::nearest(name, names)) addUnique(meant, group + '.' + *near);
    if (meant.empty()) {
        std::vector<std::string> everywhere;
        for (const Field *field : schema.applicable(config)) everywhere.push_back(field->name());
        if (const auto near = text::nearest(name, everywhere))
            for (const std::string &key : keysNamed(schema, *near)) addUnique(meant, key);
    }
    return {group + '.' + name, shortText(value), "is not a known setting", group + " has: " + text::join(names, ", "),
            text::join(meant, " or ")};
}

Issue unknownGroup(const Schema &schema, const std::string &name, const Json &value)
{
    std::vector<std::string> names;
    for (const Schema::Group &group : schema.groups()) names.push_back(group.name);
    std::vector<std::string> meant = keysNamed(schema, name);
    if (const auto near = text::nearest(name, names)) addUnique(meant, *near);
    return {name, shortText(value), "is not a group of settings", "the groups are: " + text::join(names, ", "),
            text::join(meant, " or ")};
}

/// The key is known, but only while its conditions' keys have other values than in `config`.
Issue foreignKey(const Schema &schema, const std::string &key, const Json &value, const Json &config)
{
    std::vector<std::string> owners;
    std::string conditionKey;
    for (const Field &field : schema.fields()) {
        if (field.key != key || !field.when) continue;
        conditionKey = field.when->key;
        for (const std::string &owner : field.when->values) addUnique(owners, owner);
    }
    const Json *chosen = valueOrDefault(schema, conditionKey, config);
    const std::string group = key.substr(0, key.find('.'));
    return {key,
            shortText(value),
            "does not go with " + conditionKey + " = " + (chosen ? shortText(*chosen) : "?") + ": it belongs to " +
                text::join(owners, ", "),
            group + " has: " + text::join(namesOf(schema, group, config), ", "),
            {}};
}

} // namespace

std::string Issue::message() const
{
    std::string out = text::printable(key);
    if (!value.empty()) out += " = " + value;
    out += ' ' + what;
    if (!nearest.empty()) out += ". Did you mean " + nearest + '?';
    if (!allowed.empty()) out += (nearest.empty() ? ". " : " ") + std::string("Allowed: ") + allowed;
    return out;
}

std::optional<Issue> Schema::checkValue(const Field &field, const Json &value) const
{
    Issue issue{field.key, shortText(value), {}, field.allowed(), {}};
    if (formerSwitch(field, value)) return {};
    if (!hasType(field, value)) {
        issue.what = typeProblem(field, value);
        return issue;
    }
    const auto problemOf = [&](const Json &entry) {
        const auto problem = entryProblem(field, entry);
        if (!problem) return false;
        issue.what = *problem;
        issue.nearest = nearestChoice(field, entry);
        return true;
    };
    if (!value.is_array()) return problemOf(value) ? std::optional(issue) : std::nullopt;
    for (const Json &entry : value)
        if (problemOf(entry)) {
            issue.what = "holds " + shortText(entry) + ", which " + issue.what;
            return issue;
        }
    return {};
}

std::optional<Issue> checkKey(const Schema &schema, const std::string &key, const Json &value, const Json &config)
{
    if (const Field *field = schema.find(key, config)) return schema.checkValue(*field, value);
    const std::size_t dot = key.find('.');
    const std::string group = key.substr(0, dot), name = dot == std::string::npos ? std::string() : key.substr(dot + 1);
    if (std::ranges::find(schema.groups(), group, &Schema::Group::name) == schema.groups().end() || name.empty())
        return unknownGroup(schema, group, value);
    bool known = false;
    for (const Field &field : schema.fields()) {
        if (field.key != key) continue;
        known = true;
        // With a wrong method nobody can say which options belong to it: that one mistake is reported alone.
        const Field *deciding = schema.find(field.when->key, config);
        const Json *chosen = lookup(config, field.when->key);
        if (deciding && chosen && schema.checkValue(*deciding, *chosen)) return {};
    }
    return known ? foreignKey(schema, key, value, config) : unknownKey(schema, group, name, value, config);
}

void forEachValue(const Json &config, const std::function<void(const std::string &key, const Json &value)> &visit)
{
    for (const auto &[group, settings] : config.items()) {
        if (!settings.is_object()) continue;
        for (const auto &[name, value] : settings.items()) {
            std::string key = group;
            key.append(1, '.').append(name);
            visit(key, value);
        }
    }
}

std::vector<Issue> checkShape(const Schema &schema, const Json &config)
{
    if (!config.is_object())
        return {{"the configuration", shortText(config), "is not an object", "{ \"group\": { \"key\": value } }", {}}};
    std::vector<Issue> issues;
    for (const auto &[name, value] : config.items()) {
        const bool known = std::ranges::find(schema.groups(), name, &Schema::Group::name) != schema.groups().end();
        if (!known)
            issues.push_back(unknownGroup(schema, name, value));
        else if (!value.is_object())
            issues.push_back({name, shortText(value), "is a group, not a setting", "an object: { \"key\": value }", {}});
    }
    return issues;
}

std::vector<Issue> Schema::check(const Json &config) const
{
    std::vector<Issue> issues = checkShape(*this, config);
    if (!config.is_object()) return issues;
    forEachValue(config, [&](const std::string &key, const Json &value) {
        const std::string group = key.substr(0, key.find('.'));
        if (std::ranges::find(m_groups, group, &Group::name) == m_groups.end()) return;
        if (auto issue = checkKey(*this, key, value, config)) issues.push_back(std::move(*issue));
    });
    return issues;
}

} // namespace parallax::config
