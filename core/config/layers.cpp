// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/config/check.h"

#include "core/base/text.h"
#include "core/config/values.h"

#include <algorithm>
#include <set>

namespace parallax::config {

namespace {

/// Keys on whose value the existence of others depends, such as method.name.
std::set<std::string> conditionKeys(const Schema &schema)
{
    std::set<std::string> keys;
    for (const Field &field : schema.fields())
        if (field.when) keys.insert(field.when->key);
    return keys;
}

std::string keyOf(const std::string &assignment)
{
    return text::trimmed(std::string_view(assignment).substr(0, assignment.find('=')));
}

/// A group name may hold a dot when the file is wrong ("optim.lr" at the top level): those were reported by checkShape.
bool hasKnownGroup(const Schema &schema, const std::string &key)
{
    return std::ranges::find(schema.groups(), key.substr(0, key.find('.')), &Schema::Group::name) != schema.groups().end();
}

/// Collects layers into one configuration and what is wrong with each of them.
class Resolver
{
public:
    explicit Resolver(const Schema &schema) : m_schema(schema) { }

    /// The layers with their cases written out, by what layers, assignments and defaults make of the keys.
    std::vector<Layer> expandCases(const std::vector<Layer> &layers, const std::vector<std::string> &assignments)
    {
        std::vector<Layer> expanded;
        for (const Layer &layer : layers) {
            expanded.push_back(layer);
            const auto cases = layer.values.is_object() ? layer.values.find("cases") : layer.values.end();
            if (cases == layer.values.end() || !cases->is_object()) continue; // of another type: an unknown key
            expanded.back().values.erase("cases");
            for (const auto &[key, values] : cases->items()) {
                const Field *field = m_schema.find(key, Json::object());
                if (!field || field->choices.empty() || !values.is_object()) {
                    report(layer.origin,
                           "cases: " + text::printable(key) + " is no setting with choices, such as method.name");
                    continue;
                }
                const std::string chosen = decided(*field, layers, assignments);
                for (const auto &[names, more] : values.items())
                    for (const std::string &name : text::split(names, '|')) {
                        if (const auto issue = m_schema.checkValue(*field, name))
                            report(layer.origin, "cases: " + issue->message());
                        else if (name == chosen)
                            expanded.push_back({layer.origin + " for " + name, whileIs(key, name, more)});
                    }
            }
        }
        return expanded;
    }

    /// The later layers decide which fields there are, so that all of them are known before any is checked.
    void addConditions(const Json &values)
    {
        m_atLayer.push_back(m_atLayer.empty() ? Json::object() : m_atLayer.back());
        if (!values.is_object()) return;
        for (const std::string &key : conditionKeys(m_schema))
            if (const Json *value = lookup(values, key)) assign(m_atLayer.back(), key, *value);
    }

    void addLayer(std::size_t index, const Layer &layer)
    {
        for (const Issue &issue : checkShape(m_schema, layer.values)) report(layer.origin, issue.message());
        if (!layer.values.is_object()) return;
        forEachValue(layer.values, [&](const std::string &key, const Json &value) {
            if (hasKnownGroup(m_schema, key)) addValue(layer.origin, m_atLayer[index], key, value);
        });
    }

    void addAssignment(const std::string &assignment)
    {
        auto parsed = m_schema.parseAssignment(assignment, m_atLayer.back());
        if (parsed)
            merge(m_merged, *parsed);
        else
            report("--set " + text::printable(assignment), parsed.error().message());
    }

    Result<Json> finish() const
    {
        if (m_lines.empty()) return m_schema.complete(m_merged);
        return Error{text::join(m_lines, "\n"), {}, {}};
    }

private:
    /// A case speaks of the settings that there are with its choice, also of those that other choices have by the same key.
    static Json whileIs(const std::string &key, const std::string &choice, Json values)
    {
        if (values.is_object()) assign(values, key, choice);
        return values;
    }

    /// What a field with choices is in the end.
    static std::string decided(const Field &field, const std::vector<Layer> &layers,
                               const std::vector<std::string> &assignments)
    {
        std::string value = field.defaultValue.get<std::string>();
        for (const Layer &layer : layers)
            if (const Json *set = lookup(layer.values, field.key); set && set->is_string()) value = set->get<std::string>();
        for (const std::string &assignment : assignments)
            if (keyOf(assignment) == field.key)
                value = text::trimmed(
                    std::string_view(assignment).substr(std::min(assignment.find('='), assignment.size() - 1) + 1));
        return value;
    }

    void report(const std::string &origin, const std::string &message) { m_lines.push_back(origin + ": " + message); }

    void addValue(const std::string &origin, const Json &then, const std::string &key, const Json &value)
    {
        const Field *wasFor = m_schema.find(key, then), *isFor = m_schema.find(key, m_atLayer.back());
        // An option of the method that this layer had in mind; a later layer chose another one.
        if (wasFor && wasFor != isFor) {
            if (const auto issue = m_schema.checkValue(*wasFor, value)) report(origin, issue->message());
            return;
        }
        if (const auto issue = checkKey(m_schema, key, value, m_atLayer.back()))
            report(origin, issue->message());
        else
            assign(m_merged, key, value);
    }

    const Schema &m_schema;
    std::vector<Json> m_atLayer; ///< the condition keys' values as each layer and those before it have them
    Json m_merged = Json::object();
    std::vector<std::string> m_lines;
};

} // namespace

Result<Json> Schema::parseAssignment(const std::string &assignment, const Json &config) const
{
    const std::size_t equals = assignment.find('=');
    const std::string key = keyOf(assignment);
    if (equals == std::string::npos || key.empty())
        return Error{"is not of the form group.key=value", {}, "For example: train.epochs=10"};
    const std::string text = assignment.substr(equals + 1);
    const Field *field = find(key, config);
    if (!field) {
        const auto issue = checkKey(*this, key, text, config);
        return Error{issue ? issue->message() : key + " cannot be judged: its condition is not valid", {}, {}};
    }
    const auto value = parseValue(*field, text);
    if (!value) {
        Issue issue{key, shortText(text), "cannot be read", field->allowed(), {}};
        std::string hint;
        if (field->type == Type::Float && text.find(',') != std::string::npos) {
            std::string pointed = text;
            std::ranges::replace(pointed, ',', '.');
            if (parseValue(*field, pointed)) hint = "Write the decimal point as a point: " + pointed;
        }
        return Error{issue.message(), {}, hint};
    }
    if (const auto issue = checkValue(*field, *value)) return Error{issue->message(), {}, {}};
    Json result = Json::object();
    assign(result, key, *value);
    return result;
}

Result<Json> resolve(const Schema &schema, const std::vector<Layer> &given, const std::vector<std::string> &assignments)
{
    Resolver resolver(schema);
    const std::vector<Layer> layers = resolver.expandCases(given, assignments);
    for (const Layer &layer : layers) resolver.addConditions(layer.values);
    // Assignments count in any order: --set method.temperature=0.2 --set method.name=simclr is fine.
    const std::set<std::string> deciding = conditionKeys(schema);
    Json chosen = Json::object();
    for (const std::string &assignment : assignments)
        if (deciding.contains(keyOf(assignment)))
            if (const auto parsed = schema.parseAssignment(assignment, chosen)) merge(chosen, *parsed);
    resolver.addConditions(chosen);

    for (std::size_t i = 0; i < layers.size(); ++i) resolver.addLayer(i, layers[i]);
    for (const std::string &assignment : assignments) resolver.addAssignment(assignment);
    return resolver.finish();
}

} // namespace parallax::config
