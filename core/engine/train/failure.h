// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <stdexcept>
#include <type_traits>
#include <utility>

namespace parallax::train {

/// An Error on its way to the worker's main, which alone catches.
class Failure : public std::runtime_error
{
public:
    explicit Failure(Error error) : std::runtime_error(error.message()), m_error(std::move(error)) { }
    const Error &error() const { return m_error; }

private:
    Error m_error;
};

/// The value of `result`, or its Error thrown.
template<class T>
T valueOrThrow(Result<T> result)
{
    if (!result) throw Failure(result.error());
    if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

} // namespace parallax::train
