// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/schema.h"

#include <functional>
#include <type_traits>

/// Declaring settings. A struct with defaults says once, in `describe`, what its members are called, mean and allow:
///
///     struct OptimConfig {
///         double baseLr = 0.06;
///         static void describe(config::Group<OptimConfig> &group)
///         {
///             group.field("base_lr", &OptimConfig::baseLr).label("Base learning rate").unit("per 256").above(0).help("…");
///         }
///     };
///     config::declare<OptimConfig>(schema, "optim", "Optimiser");
///     auto optim = config::read<OptimConfig>(resolved, "optim");
namespace parallax::config {

template<class T>
constexpr Type typeOf()
{
    if constexpr (std::is_same_v<T, bool>)
        return Type::Bool;
    else if constexpr (std::is_integral_v<T>)
        return Type::Int;
    else if constexpr (std::is_floating_point_v<T>)
        return Type::Float;
    else if constexpr (std::is_same_v<T, std::string>)
        return Type::String;
    else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>)
        return Type::IntList;
    else if constexpr (std::is_same_v<T, std::vector<double>>)
        return Type::FloatList;
    else {
        static_assert(std::is_same_v<T, std::vector<std::string>>, "no config type for this member");
        return Type::StringList;
    }
}

template<class S>
class Group
{
public:
    /// Sets what a form and a reader need to know of one field.
    class Builder
    {
    public:
        Builder &label(std::string s)
        {
            m_field.label = std::move(s);
            return *this;
        }
        Builder &unit(std::string s)
        {
            m_field.unit = std::move(s);
            return *this;
        }
        Builder &help(std::string s)
        {
            m_field.help = std::move(s);
            return *this;
        }
        Builder &hint(std::string s)
        {
            m_field.hint = std::move(s);
            return *this;
        }
        Builder &range(double low, double high)
        {
            m_field.min = low;
            m_field.max = high;
            return *this;
        }
        Builder &atLeast(double low)
        {
            m_field.min = low;
            return *this;
        }
        Builder &above(double low)
        {
            m_field.min = low;
            m_field.exclusiveMin = true;
            return *this;
        }
        Builder &atMost(double high)
        {
            m_field.max = high;
            return *this;
        }
        Builder &advanced()
        {
            m_field.advanced = true;
            return *this;
        }
        Builder &choice(std::string value, std::string label, std::string help = {})
        {
            m_field.choices.push_back({std::move(value), std::move(label), std::move(help)});
            return *this;
        }

        /// The field exists only while that holds; for a group that has no condition of its own.
        Builder &when(Condition condition)
        {
            m_field.when = std::move(condition);
            return *this;
        }

    private:
        friend class Group;
        explicit Builder(Field &field) : m_field(field) { }
        Field &m_field;
    };

    explicit Group(std::string prefix, std::optional<Condition> when = {})
        : m_prefix(std::move(prefix)), m_when(std::move(when))
    {
        m_entries.reserve(64); // builders hold references
    }

    template<class T>
    Builder field(const std::string &name, T S::*member)
    {
        Entry entry;
        entry.field.key = m_prefix + '.' + name;
        entry.field.type = typeOf<T>();
        entry.field.defaultValue = S{}.*member;
        entry.field.when = m_when;
        entry.read = [member](S &s, const Json &value) { s.*member = value.template get<T>(); };
        m_entries.push_back(std::move(entry));
        return Builder(m_entries.back().field);
    }

    struct Entry {
        Field field;
        std::function<void(S &, const Json &)> read;
    };
    const std::vector<Entry> &entries() const { return m_entries; }

private:
    std::string m_prefix;
    std::optional<Condition> m_when;
    std::vector<Entry> m_entries;
};

/// Adds the fields of S to `schema` under `prefix`. `when`: they exist only while that holds.
template<class S>
void declare(Schema &schema, const std::string &prefix, const std::string &label, std::optional<Condition> when = {})
{
    Group<S> group(prefix, std::move(when));
    S::describe(group);
    schema.addGroup(prefix, label);
    for (const auto &entry : group.entries()) schema.add(entry.field);
}

/// S from a resolved config; fields that are absent keep their defaults.
template<class S>
S read(const Json &config, const std::string &prefix)
{
    Group<S> group(prefix);
    S::describe(group);
    S result;
    for (const auto &entry : group.entries())
        if (const Json *value = lookup(config, entry.field.key)) entry.read(result, *value);
    return result;
}

} // namespace parallax::config
