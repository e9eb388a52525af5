// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/subset.h"

#include "core/engine/data/subset.h"
#include "core/engine/eval/features.h"

namespace parallax::train {

std::shared_ptr<const data::Dataset> evenSubset(std::shared_ptr<const data::Dataset> data, std::int64_t limit)
{
    if (limit <= 0 || limit >= data->size()) return data;
    return std::make_shared<data::Subset>(data, eval::evenly(data->size(), limit), data->classes());
}

} // namespace parallax::train
