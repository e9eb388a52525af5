// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace parallax {

/// What went wrong, where, and what the person can do about it. Each part is a full phrase; `hint` may be empty.
struct Error {
    std::string what;  ///< "No readable image in /data/leaves"
    std::string where; ///< a file, a config key, a rank; empty where `what` names it already
    std::string hint;  ///< "Choose a folder that holds JPEG, PNG … files"

    /// One line for people: `where: what. hint`.
    std::string message() const
    {
        std::string text = where.empty() ? what : where + ": " + what;
        if (!hint.empty()) {
            if (!text.empty() && text.back() != '.') text += '.';
            text += ' ' + hint;
        }
        return text;
    }
    bool operator==(const Error &) const = default;
};

/// A value or an Error. Outside the engine errors are values: nothing throws across a function that returns Result.
template<class T>
class [[nodiscard]] Result
{
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) { }
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) { }

    explicit operator bool() const { return m_state.index() == 0; }
    bool ok() const { return m_state.index() == 0; }
    T &value() & { return std::get<0>(m_state); }
    const T &value() const & { return std::get<0>(m_state); }
    T &&value() && { return std::get<0>(std::move(m_state)); }
    T &operator*() & { return value(); }
    const T &operator*() const & { return value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }
    const Error &error() const { return std::get<1>(m_state); }

private:
    std::variant<T, Error> m_state;
};

template<>
class [[nodiscard]] Result<void>
{
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) { }

    explicit operator bool() const { return !m_error; }
    bool ok() const { return !m_error; }
    const Error &error() const { return *m_error; }

private:
    std::optional<Error> m_error;
};

using Status = Result<void>;

} // namespace parallax
