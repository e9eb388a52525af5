// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"

#include <memory>

namespace parallax::train {

/// At most `limit` images of `data`, spread evenly over it; `limit` 0, or no fewer images than that: `data` itself.
std::shared_ptr<const data::Dataset> evenSubset(std::shared_ptr<const data::Dataset> data, std::int64_t limit);

} // namespace parallax::train
