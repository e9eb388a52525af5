// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/config/schema.h"

#include "core/config/values.h"

#include <algorithm>
#include <cassert>

namespace parallax::config {

namespace {

/// The value of a condition's key as the condition writes it.
std::string conditionText(const Json &value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

} // namespace

const Json *lookup(const Json &config, const std::string &key)
{
    const std::size_t dot = key.find('.');
    if (!config.is_object() || dot == std::string::npos) return nullptr;
    const auto group = config.find(key.substr(0, dot));
    if (group == config.end() || !group->is_object()) return nullptr;
    const auto value = group->find(key.substr(dot + 1));
    return value == group->end() ? nullptr : &*value;
}

void assign(Json &config, const std::string &key, Json value)
{
    const std::size_t dot = key.find('.');
    assert(dot != std::string::npos);
    if (!config.is_object()) config = Json::object();
    Json &group = config[key.substr(0, dot)];
    if (!group.is_object()) group = Json::object();
    group[key.substr(dot + 1)] = std::move(value);
}

void merge(Json &config, const Json &over)
{
    if (!config.is_object() || !over.is_object()) {
        config = over;
        return;
    }
    for (const auto &[name, value] : over.items()) merge(config[name], value);
}

void Schema::addGroup(std::string name, std::string label)
{
    const auto known = std::ranges::find(m_groups, name, &Group::name);
    if (known == m_groups.end())
        m_groups.push_back({std::move(name), std::move(label)});
    else if (known->label.empty())
        known->label = std::move(label);
}

void Schema::add(Field field)
{
    assert(std::ranges::none_of(m_fields, [&](const Field &other) { return collide(other, field); }));
    addGroup(field.group(), {});
    m_fields.push_back(std::move(field));
}

const Field *Schema::find(const std::string &key, const Json &config) const
{
    for (const Field &field : m_fields)
        if (field.key == key && applies(*this, field, config)) return &field;
    return nullptr;
}

std::vector<const Field *> Schema::applicable(const Json &config) const
{
    std::vector<const Field *> found;
    for (const Group &group : m_groups)
        for (const Field &field : m_fields)
            if (field.group() == group.name && applies(*this, field, config)) found.push_back(&field);
    return found;
}

const Json *valueOrDefault(const Schema &schema, const std::string &key, const Json &config)
{
    if (const Json *value = lookup(config, key)) return value;
    const auto field = std::ranges::find(schema.fields(), key, &Field::key);
    return field == schema.fields().end() ? nullptr : &field->defaultValue;
}

bool applies(const Schema &schema, const Field &field, const Json &config)
{
    if (!field.when) return true;
    const Json *value = valueOrDefault(schema, field.when->key, config);
    return value && std::ranges::find(field.when->values, conditionText(*value)) != field.when->values.end();
}

bool collide(const Field &a, const Field &b)
{
    if (a.key != b.key) return false;
    return !a.when || !b.when || a.when->key != b.when->key ||
        std::ranges::find_first_of(a.when->values, b.when->values) != a.when->values.end();
}

Json Schema::complete(const Json &config) const
{
    Json whole = Json::object();
    for (const Field *field : applicable(config)) {
        const Json *value = lookup(config, field->key);
        assign(whole, field->key, canonical(*field, value ? *value : field->defaultValue));
    }
    return whole;
}

Json Schema::changes(const Json &config) const
{
    Json changed = Json::object();
    for (const Field *field : applicable(config)) {
        const Json *value = lookup(config, field->key);
        if (value && *value != field->defaultValue) assign(changed, field->key, *value);
    }
    return changed;
}

} // namespace parallax::config
