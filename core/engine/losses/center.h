// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// center ← momentum · center + (1 − momentum) · mean of the rows of all ranks, in place, no gradient. rows: [n, K]; center:
/// K values in any shape. Each row counts the same, whichever rank holds it; without any row nothing changes.
void moveCenter(torch::Tensor &center, const torch::Tensor &rows, double momentum, const dist::Ranks &ranks);

} // namespace parallax::losses
