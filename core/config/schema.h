// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

/// The experiment's settings, declared once. A Schema is made in the worker from the declarations (group.h), travels as
/// JSON (`parallax schema`), and checks, completes and documents configurations wherever it arrives: CLI, studio, worker.
namespace parallax::config {

using Json = nlohmann::ordered_json;

enum class Type { Bool, Int, Float, String, IntList, FloatList, StringList };

struct Choice {
    std::string value, label, help;
    std::map<std::string, std::string> notes = {}; ///< by key: what this choice means for another setting, a line for a form
};

/// A field that exists only while another has a certain value, such as method.temperature while method.name is simclr, or one
/// of several.
struct Condition {
    Condition(std::string key, std::string value) : key(std::move(key)), values{std::move(value)} { }
    Condition(std::string key, std::vector<std::string> values) : key(std::move(key)), values(std::move(values)) { }
    std::string key;
    std::vector<std::string> values; ///< at least one
};

struct Field {
    std::string key; ///< "optim.base_lr": group, dot, name
    Type type = Type::String;
    Json defaultValue;
    std::optional<double> min, max; ///< inclusive; for lists they hold for every entry
    bool exclusiveMin = false;      ///< the value must lie above min
    std::vector<Choice> choices;    ///< empty: any value of the type
    std::string label;              ///< "Base learning rate"
    std::string unit;               ///< "images", "px", "s", "per 256"
    std::string help;               ///< one or two sentences
    std::string hint;               ///< how a form shows it: "" (by type), "path", "slider"
    bool advanced = false;
    std::optional<Condition> when;

    std::string group() const { return key.substr(0, key.find('.')); }
    std::string name() const { return key.substr(key.find('.') + 1); }
    /// "a number above 0 and at most 10 (px)", "one of: cpu, cuda, auto"; for messages and tooltips.
    std::string allowed() const;
};

/// Something wrong with one key of a configuration.
struct Issue {
    std::string key, value; ///< value as JSON text, shortened
    std::string what;       ///< "is above the largest allowed value"
    std::string allowed;    ///< "a number from 0 to 1"
    std::string nearest;    ///< for unknown keys and choices: what was probably meant
    std::string message() const;
};

class Schema
{
public:
    /// Groups in the order of their first field.
    struct Group {
        std::string name, label;
    };

    void addGroup(std::string name, std::string label);
    /// Asserts that the key is new for its condition: a doubled declaration is our own bug.
    void add(Field field);

    const std::vector<Group> &groups() const { return m_groups; }
    const std::vector<Field> &fields() const { return m_fields; }
    /// The field of that key that applies to `config` (conditions looked up there, else at their defaults); or null.
    const Field *find(const std::string &key, const Json &config) const;
    /// All fields that apply to `config`, in order.
    std::vector<const Field *> applicable(const Json &config) const;

    /// Everything wrong with `config` (a nested object, may be partial): unknown group or key with the nearest one, wrong
    /// type, out of range, unknown choice, all in one go. Empty: it is fine. An integer is accepted where a float is asked.
    std::vector<Issue> check(const Json &config) const;
    /// Check of one value against its field; for a form, as one types.
    std::optional<Issue> checkValue(const Field &field, const Json &value) const;
    /// `config` with every missing field at its default, keys in schema order. Call on a checked config.
    Json complete(const Json &config) const;
    /// The part of `config` that differs from the defaults.
    Json changes(const Json &config) const;
    /// Turns "key=value" into {group: {key: value}}; the text is read as the field's type. Lists: "a,b,c" or JSON.
    Result<Json> parseAssignment(const std::string &assignment, const Json &config) const;
    /// A text typed in a form or a `--set`, read as the field's type (C form: a point).
    std::optional<Json> parseValue(const Field &field, const std::string &text) const;

    Json toJson() const;
    static Result<Schema> fromJson(const Json &json);

private:
    std::vector<Group> m_groups;
    std::vector<Field> m_fields;
};

/// `value` at "group.key" of a nested object; null when absent.
const Json *lookup(const Json &config, const std::string &key);
void assign(Json &config, const std::string &key, Json value);
/// Deep merge: what `over` holds wins.
void merge(Json &config, const Json &over);

/// Reads a configuration file's text. Comments (// and /* */) and a BOM are allowed; duplicate keys, NaN, infinity, trailing
/// text, invalid UTF-8, lone surrogates, NUL characters, keys over 1,000 bytes, nesting over 16 levels and anything but an
/// object at the top are not. The Error names file, line and column.
Result<Json> parseStrict(const std::string &text, const std::string &file);
Result<Json> readFile(const std::string &file);

/// Layers of one configuration, later ones winning: defaults, then each of `layers` in order.
/// Issues of all layers are reported together in the Error, one a line.
struct Layer {
    std::string origin; ///< "preset demo", "config.json", "--set"
    /// Groups of settings. A layer may say more for some values of a key, as a preset does for each method:
    /// "cases": {"method.name": {"byol": {"augment": {…}}, "simsiam|fastsiam": {…}}}. What fits the value that the key has in
    /// the end counts as a layer of its own right behind this one.
    Json values;
};
Result<Json> resolve(const Schema &schema, const std::vector<Layer> &layers, const std::vector<std::string> &assignments);

} // namespace parallax::config
