// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/methods/method.h"

namespace parallax::methods {

/// A configuration of nothing but this method, with small values for the widths and counts among its options and the rest as
/// declared: heads, banks and queues that a few steps on a few images pass through several times. For tests, of Parallax and of
/// the machine that it runs on.
config::Json tinyOptions(const MethodInfo &info);

} // namespace parallax::methods
