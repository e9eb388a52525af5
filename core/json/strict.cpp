// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/json/strict.h"

#include "core/base/text.h"
#include "core/json/explain.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

namespace parallax::json {

namespace {

/// Bytes of a text that tell how far the parser has come, so that the builder can say where a name stands.
class CountingIterator
{
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char *;
    using reference = const char &;

    CountingIterator(const char *at, const char **furthest) : m_at(at), m_furthest(furthest) { }
    reference operator*() const { return *m_at; }
    CountingIterator &operator++()
    {
        *m_furthest = ++m_at;
        return *this;
    }
    bool operator==(const CountingIterator &other) const { return m_at == other.m_at; }
    bool operator!=(const CountingIterator &other) const { return m_at != other.m_at; }

private:
    const char *m_at;
    const char **m_furthest;
};

/// Builds the document from the parser's events and stops at the first thing that `rules` do not allow.
class Builder
{
public:
    Builder(std::string_view text, const Rules &rules, const char *const *furthest)
        : m_text(text), m_rules(rules), m_furthest(furthest)
    {
    }

    bool null() { return put(nullptr); }
    bool boolean(bool value) { return put(value); }
    bool number_integer(std::int64_t value) { return put(value); }
    bool number_unsigned(std::uint64_t value) { return put(value); }
    bool number_float(double value, const std::string &) { return put(value); }
    bool binary(Json::binary_t &) { return false; }
    bool string(std::string &value)
    {
        if (!m_rules.nulText && value.find('\0') != std::string::npos)
            return refuse("text holds a NUL character (\\u0000)", "Leave it out");
        return put(std::move(value));
    }
    bool key(std::string &name);
    bool start_object(std::size_t) { return open(Json::object()); }
    bool start_array(std::size_t) { return open(Json::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool parse_error(std::size_t position, const std::string &token, const nlohmann::detail::exception &error)
    {
        m_problem = explainSyntax(m_text, position, token, error.what());
        return false;
    }

    const std::optional<Problem> &problem() const { return m_problem; }
    Json takeDocument() { return std::move(m_document); }

private:
    struct Level {
        Json *container;
        /// Of a large object: looking them up in it would be quadratic. Small ones, nearly all there are, make none.
        std::unordered_set<std::string> names;
    };
    static constexpr std::size_t smallObject = 32;
    static bool isNew(Level &level, const std::string &name);
    bool put(Json value) { return place(std::move(value)) != nullptr; }
    Json *place(Json value);
    bool open(Json container);
    bool close()
    {
        m_levels.pop_back();
        return true;
    }
    bool refuse(std::string what, std::string hint)
    {
        const auto read = static_cast<std::size_t>(*m_furthest - m_text.data());
        m_problem = Problem{std::move(what), std::move(hint), startOfToken(m_text, read)};
        return false;
    }

    std::string_view m_text;
    const Rules &m_rules;
    const char *const *m_furthest;
    Json m_document;
    std::vector<Level> m_levels;
    std::string m_name;
    std::optional<Problem> m_problem;
};

bool Builder::isNew(Level &level, const std::string &name)
{
    const auto &members = level.container->get_ref<const Json::object_t &>();
    if (members.size() < smallObject)
        return std::none_of(members.begin(), members.end(), [&](const auto &member) { return member.first == name; });
    if (level.names.empty())
        for (const auto &member : members) level.names.insert(member.first);
    return level.names.insert(name).second;
}

bool Builder::key(std::string &name)
{
    const auto shown = [&] { return text::printable(name.substr(0, 40)) + (name.size() > 40 ? "…" : ""); };
    if (name.size() > m_rules.keyBytes)
        return refuse("the name " + shown() + " has " + std::to_string(name.size()) + " bytes, more than " +
                          std::to_string(m_rules.keyBytes),
                      {});
    if (name.find('\0') != std::string::npos) return refuse("a name holds a NUL character (\\u0000)", "Leave it out");
    if (!isNew(m_levels.back(), name)) return refuse("the name " + shown() + " appears twice", "Keep one of the two");
    m_name = std::move(name);
    return true;
}

Json *Builder::place(Json value)
{
    if (m_levels.empty()) {
        m_document = std::move(value);
        return &m_document;
    }
    Json &container = *m_levels.back().container;
    if (container.is_array()) return &container.get_ref<Json::array_t &>().emplace_back(std::move(value));
    // Not operator[]: it would search the whole object for the name, which is known to be new.
    return &container.get_ref<Json::object_t &>().emplace_back(std::move(m_name), std::move(value)).second;
}

bool Builder::open(Json container)
{
    if (m_levels.size() >= m_rules.depth)
        return refuse("is nested deeper than " + std::to_string(m_rules.depth) + " levels", {});
    m_levels.push_back({place(std::move(container)), {}});
    return true;
}

} // namespace

std::variant<Json, Problem> parse(std::string_view text, const Rules &rules)
{
    if (auto problem = explainBytes(text, rules.comments)) return *problem;
    const char *furthest = text.data();
    Builder builder(text, rules, &furthest);
    const CountingIterator first(text.data(), &furthest), last(text.data() + text.size(), &furthest);
    const bool done = Json::sax_parse(first, last, &builder, Json::input_format_t::json, true, rules.comments);
    if (done) return builder.takeDocument();
    return builder.problem().value_or(Problem{"is not valid JSON", {}, 0});
}

Place placeOf(std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const std::size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0
    const auto startsCharacter = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    const std::string_view line = before.substr(lineStart);
    Place place;
    place.line += static_cast<std::size_t>(std::ranges::count(before, '\n'));
    place.column += static_cast<std::size_t>(std::ranges::count_if(line, startsCharacter));
    // The byte order mark is no character of the text.
    if (lineStart == 0 && line.starts_with("\xEF\xBB\xBF")) --place.column;
    return place;
}

} // namespace parallax::json
