// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

/// Ranks inside the context of an autograd function: alive as long as the graph that will need them in its backward.
namespace parallax::dist {

c10::IValue capsule(std::shared_ptr<const Ranks> ranks);
const Ranks &fromCapsule(const c10::IValue &value);

} // namespace parallax::dist
