// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// CO2's consistency regulariser (Wei et al. 2021, arXiv:2010.02217): both views see the other images alike.
///
/// z0, z1: [n, d], normalised here. p = softmax of the first view's cosines with all second views, over `temperature`; q the
/// same with the views swapped; half the sum of KL(p ‖ q) and KL(q ‖ p), mean over rows, times `weight`. The other images
/// are those of all ranks. It has a gradient (lightly's value has none and trains nothing).
///
/// Returns world / N times the sum over the own rows. Throws c10::Error for shapes that do not match.
torch::Tensor co2(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, double weight,
                  const dist::Ranks &ranks);

} // namespace parallax::losses
