// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/config/values.h"

#include <algorithm>

namespace parallax::config {

namespace {

constexpr std::int64_t format = 1;

Json fieldToJson(const Field &field)
{
    Json json{{"key", field.key}, {"type", typeName(field.type)}, {"default", canonical(field, field.defaultValue)}};
    if (field.min) json["min"] = *field.min;
    if (field.max) json["max"] = *field.max;
    if (field.exclusiveMin) json["exclusive_min"] = true;
    if (!field.choices.empty()) {
        Json &choices = json["choices"] = Json::array();
        for (const Choice &choice : field.choices) {
            choices.push_back(Json{{"value", choice.value}, {"label", choice.label}, {"help", choice.help}});
            if (!choice.notes.empty()) choices.back()["notes"] = choice.notes;
        }
    }
    json["label"] = field.label;
    json["unit"] = field.unit;
    json["help"] = field.help;
    json["hint"] = field.hint;
    json["advanced"] = field.advanced;
    if (field.when) {
        const auto &values = field.when->values;
        json["when"] = Json{{"key", field.when->key}, {"value", values.size() == 1 ? Json(values.front()) : Json(values)}};
    }
    return json;
}

/// Takes members out of an object; remembers the first that is missing, of another type or unknown.
class Reader
{
public:
    Reader(const Json &json, std::string where) : m_json(json), m_where(std::move(where))
    {
        if (!json.is_object()) fail("is not an object");
    }

    using TypeTest = bool (Json::*)() const noexcept;
    /// Null when absent or of another type; without a test every type is taken.
    const Json *member(const char *name, bool required, TypeTest hasType)
    {
        m_known.push_back(name);
        const auto found = m_json.is_object() ? m_json.find(name) : m_json.end();
        if (found == m_json.end()) {
            if (required) fail(std::string("lacks \"") + name + '"');
            return nullptr;
        }
        if (!hasType || ((*found).*hasType)()) return &*found;
        fail(std::string("has a \"") + name + "\" of the wrong type");
        return nullptr;
    }
    std::string text(const char *name)
    {
        const Json *value = member(name, true, &Json::is_string);
        return value ? value->get<std::string>() : std::string();
    }
    std::optional<double> number(const char *name)
    {
        const Json *value = member(name, false, &Json::is_number);
        return value ? std::optional(value->get<double>()) : std::nullopt;
    }
    bool flag(const char *name, bool required)
    {
        const Json *value = member(name, required, &Json::is_boolean);
        return value && value->get<bool>();
    }
    void fail(const std::string &what)
    {
        if (m_problem.empty()) m_problem = m_where + ' ' + what;
    }
    /// Call last: members that nobody asked for are a problem too.
    std::string problem()
    {
        if (m_json.is_object())
            for (const auto &[name, value] : m_json.items())
                if (!std::ranges::count(m_known, name)) fail("has an unknown \"" + name + '"');
        return m_problem;
    }

private:
    const Json &m_json;
    std::string m_where, m_problem;
    std::vector<std::string> m_known;
};

Error invalid(const std::string &problem)
{
    return {"is not a schema: " + problem, {}, "The programs of one version belong together: install them anew"};
}

Result<Choice> choiceFromJson(const Json &json, const std::string &where)
{
    Reader reader(json, where);
    Choice choice{reader.text("value"), reader.text("label"), reader.text("help")};
    if (const Json *notes = reader.member("notes", false, &Json::is_object)) {
        for (const auto &[key, note] : notes->items()) {
            if (!note.is_string()) return invalid(where + " has a note that is no text");
            choice.notes[key] = note.get<std::string>();
        }
    }
    if (const std::string problem = reader.problem(); !problem.empty()) return invalid(problem);
    return choice;
}

Result<Condition> conditionFromJson(const Json &json, const std::string &where)
{
    Reader reader(json, where);
    Condition condition{reader.text("key"), std::vector<std::string>{}};
    if (const Json *value = reader.member("value", true, nullptr); value && value->is_string())
        condition.values.push_back(value->get<std::string>());
    else if (value && value->is_array() && !value->empty() && std::ranges::all_of(*value, &Json::is_string))
        condition.values = value->get<std::vector<std::string>>();
    else if (value)
        reader.fail("has a \"value\" that is neither a text nor a list of texts");
    if (const std::string problem = reader.problem(); !problem.empty()) return invalid(problem);
    return condition;
}

/// The parts of a field that say which values it takes.
Status readLimits(Reader &reader, Field &field)
{
    const auto type = typeFromName(reader.text("type"));
    if (!type) reader.fail("has an unknown type");
    field.type = type.value_or(Type::String);
    field.min = reader.number("min");
    field.max = reader.number("max");
    field.exclusiveMin = reader.flag("exclusive_min", false);
    if (const Json *choices = reader.member("choices", false, &Json::is_array)) {
        for (const Json &entry : *choices) {
            auto choice = choiceFromJson(entry, "a choice of " + field.key);
            if (!choice) return choice.error();
            field.choices.push_back(std::move(*choice));
        }
    }
    const Json *value = reader.member("default", true, nullptr);
    if (value && hasType(field, *value))
        field.defaultValue = *value;
    else
        reader.fail("has a default that is not of its type");
    return {};
}

Result<Field> fieldFromJson(const Json &json)
{
    Reader key(json, "a field");
    Field field;
    field.key = key.text("key");
    if (field.key.find('.') == std::string::npos) return invalid("a field has no key of the form group.name");
    Reader reader(json, field.key);
    reader.member("key", true, &Json::is_string);
    if (auto limits = readLimits(reader, field); !limits) return limits.error();
    field.label = reader.text("label");
    field.unit = reader.text("unit");
    field.help = reader.text("help");
    field.hint = reader.text("hint");
    field.advanced = reader.flag("advanced", true);
    if (const Json *when = reader.member("when", false, &Json::is_object)) {
        auto condition = conditionFromJson(*when, "the condition of " + field.key);
        if (!condition) return condition.error();
        field.when = std::move(*condition);
    }
    if (const std::string problem = reader.problem(); !problem.empty()) return invalid(problem);
    return field;
}

} // namespace

Json Schema::toJson() const
{
    Json groups = Json::array(), fields = Json::array();
    for (const Group &group : m_groups) groups.push_back(Json{{"name", group.name}, {"label", group.label}});
    for (const Field &field : m_fields) fields.push_back(fieldToJson(field));
    return Json{{"format", format}, {"groups", std::move(groups)}, {"fields", std::move(fields)}};
}

Result<Schema> Schema::fromJson(const Json &json)
{
    Reader reader(json, "it");
    const Json *written = reader.member("format", true, &Json::is_number_integer);
    const Json *groups = reader.member("groups", true, &Json::is_array);
    const Json *fields = reader.member("fields", true, &Json::is_array);
    if (const std::string problem = reader.problem(); !problem.empty()) return invalid(problem);
    if (*written != format)
        return invalid("its format is " + written->dump() + ", this program reads " + std::to_string(format));

    Schema schema;
    for (const Json &entry : *groups) {
        Reader group(entry, "a group");
        std::string name = group.text("name"), label = group.text("label");
        if (const std::string problem = group.problem(); !problem.empty()) return invalid(problem);
        schema.addGroup(std::move(name), std::move(label));
    }
    for (const Json &entry : *fields) {
        auto field = fieldFromJson(entry);
        if (!field) return field.error();
        for (const Field &other : schema.m_fields)
            if (collide(other, *field)) return invalid(field->key + " is there twice");
        schema.add(std::move(*field));
    }
    return schema;
}

} // namespace parallax::config
