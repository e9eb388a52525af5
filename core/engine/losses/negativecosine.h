// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Negative cosine similarity of matching rows of x, y: [n, d], each norm at least `eps` (Chen and He 2021,
/// arXiv:2011.10566, equation 1). Returns world / N times the sum over the own rows. Throws c10::Error for shapes that do
/// not match.
torch::Tensor negativeCosine(const torch::Tensor &x, const torch::Tensor &y, const dist::Ranks &ranks, double eps = 1e-8);

/// Half of each direction: predictions p0, p1 of the two views against the other view's projection z1, z0, which receives no
/// gradient (same paper, equation 2; BYOL: Grill et al. 2020, arXiv:2006.07733, up to a constant).
torch::Tensor symmetricNegativeCosine(const torch::Tensor &p0, const torch::Tensor &p1, const torch::Tensor &z0,
                                      const torch::Tensor &z1, const dist::Ranks &ranks);

} // namespace parallax::losses
