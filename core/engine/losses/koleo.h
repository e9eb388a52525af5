// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// KoLeo regulariser (Sablayrolles et al. 2019, arXiv:1806.03198): rows keep away from their nearest neighbour.
///
/// x: [n, d], normalised here (norms at least `eps`). −mean log(‖a − b + eps‖_p + eps), b being the other row of largest
/// cosine among those of all ranks; the gradient goes through both.
///
/// Returns world / N times the sum over the own rows. Throws c10::Error for other shapes and a single row over all ranks.
torch::Tensor koLeo(const torch::Tensor &x, const dist::Ranks &ranks, double p = 2, double eps = 1e-8);

} // namespace parallax::losses
