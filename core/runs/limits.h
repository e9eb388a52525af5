// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// What the writer and the readers of run files agree on.
namespace parallax::runs {

inline constexpr std::size_t longestLine = std::size_t(1) << 20; ///< of an event log, in bytes
inline constexpr std::size_t deepestEvent = 32;                  ///< levels of objects and arrays in a line

} // namespace parallax::runs
