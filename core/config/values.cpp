// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/config/values.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace parallax::config {

namespace {

constexpr std::array<std::pair<Type, const char *>, 7> typeNames{{
    {Type::Bool, "bool"},
    {Type::Int, "int"},
    {Type::Float, "float"},
    {Type::String, "string"},
    {Type::IntList, "int_list"},
    {Type::FloatList, "float_list"},
    {Type::StringList, "string_list"},
}};

bool isInt(const Json &value)
{
    if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= std::uint64_t(INT64_MAX);
    return value.is_number_integer();
}

bool isFloat(const Json &value) { return value.is_number() && std::isfinite(value.get<double>()); }

bool isList(Type type) { return type == Type::IntList || type == Type::FloatList || type == Type::StringList; }

/// The type of one entry of a list, of the value itself otherwise.
Type entryType(Type type)
{
    switch (type) {
    case Type::IntList: return Type::Int;
    case Type::FloatList: return Type::Float;
    case Type::StringList: return Type::String;
    default: return type;
    }
}

bool entryHasType(Type type, const Json &value)
{
    switch (type) {
    case Type::Bool: return value.is_boolean();
    case Type::Int: return isInt(value);
    case Type::Float: return isFloat(value);
    default: return value.is_string();
    }
}

std::optional<Json> parseEntry(Type type, const std::string &text)
{
    static const std::vector<std::string> yes{"true", "on", "yes", "1"}, no{"false", "off", "no", "0"};
    switch (type) {
    case Type::Bool:
        if (std::ranges::count(yes, text)) return Json(true);
        if (std::ranges::count(no, text)) return Json(false);
        return {};
    case Type::Int:
        if (const auto number = text::parseInt(text)) return Json(*number);
        return {};
    case Type::Float:
        if (const auto number = text::parseDouble(text); number && std::isfinite(*number)) return Json(*number);
        return {};
    default:
        if (!text::isUtf8(text) || text.find('\0') != std::string::npos) return {};
        return Json(text);
    }
}

/// " from 0 to 1", " above 0 and at most 10", " of at least 1"; empty without limits.
std::string limits(const Field &field)
{
    std::string out;
    if (field.min && field.max && !field.exclusiveMin)
        return " from " + text::number(*field.min) + " to " + text::number(*field.max);
    if (field.min) out = (field.exclusiveMin ? " above " : " of at least ") + text::number(*field.min);
    if (field.max) out += (field.min ? " and" : " of") + std::string(" at most ") + text::number(*field.max);
    return out;
}

std::optional<Json> parseList(const Field &field, const std::string &text)
{
    if (text.starts_with('[')) {
        Json list = Json::parse(text, nullptr, false);
        if (list.is_discarded() || !hasType(field, list)) return {};
        return canonical(field, list);
    }
    Json list = Json::array();
    if (text.empty()) return list;
    for (const std::string &part : text::split(text, ',')) {
        auto entry = parseEntry(entryType(field.type), text::trimmed(part));
        if (!entry) return {};
        list.push_back(std::move(*entry));
    }
    return list;
}

} // namespace

const char *typeName(Type type) { return std::ranges::find(typeNames, type, &std::pair<Type, const char *>::first)->second; }

std::optional<Type> typeFromName(const std::string &name)
{
    for (const auto &[type, text] : typeNames)
        if (name == text) return type;
    return {};
}

std::string Field::allowed() const
{
    if (!choices.empty()) {
        std::vector<std::string> values;
        for (const Choice &choice : choices) values.push_back(choice.value);
        return (isList(type) ? "a list of: " : "one of: ") + text::join(values, ", ");
    }
    const std::string each = limits(*this).empty() ? std::string() : ", each" + limits(*this);
    const std::string measure = unit.empty() ? std::string() : " (" + unit + ')';
    switch (type) {
    case Type::Bool: return "true or false";
    case Type::Int: return "a whole number" + limits(*this) + measure;
    case Type::Float: return "a number" + limits(*this) + measure;
    case Type::String: return "text";
    case Type::IntList: return "a list of whole numbers" + each + measure;
    case Type::FloatList: return "a list of numbers" + each + measure;
    case Type::StringList: return "a list of texts";
    }
    return {};
}

bool hasType(const Field &field, const Json &value)
{
    if (!isList(field.type)) return entryHasType(field.type, value);
    return value.is_array() &&
        std::ranges::all_of(value, [&](const Json &entry) { return entryHasType(entryType(field.type), entry); });
}

std::optional<std::string> formerSwitch(const Field &field, const Json &value)
{
    if (field.type != Type::String || !value.is_boolean() || field.defaultValue == "off") return {};
    if (std::ranges::find(field.choices, "off", &Choice::value) == field.choices.end()) return {};
    return value.get<bool>() ? field.defaultValue.get<std::string>() : "off";
}

Json canonical(const Field &field, const Json &value)
{
    if (const auto choice = formerSwitch(field, value)) return *choice;
    if (entryType(field.type) != Type::Float || !hasType(field, value)) return value;
    if (!value.is_array()) return value.get<double>();
    Json list = Json::array();
    for (const Json &entry : value) list.push_back(entry.get<double>());
    return list;
}

std::string shortText(const Json &value)
{
    constexpr std::size_t longest = 60;
    std::string out = text::printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
    if (out.size() <= longest) return out;
    out.resize(longest);
    out.resize(text::utf8Prefix(out));
    return out + "…";
}

std::optional<Json> Schema::parseValue(const Field &field, const std::string &text) const
{
    if (field.type == Type::String) return parseEntry(field.type, text);
    return isList(field.type) ? parseList(field, text::trimmed(text)) : parseEntry(field.type, text::trimmed(text));
}

} // namespace parallax::config
