// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace parallax::session {

/// "0.1.0", the project's version in CMakeLists.txt.
inline std::string version() { return PARALLAX_VERSION; }

} // namespace parallax::session
