// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Normalised temperature-scaled cross entropy (Chen et al. 2020, arXiv:2002.05709, equation 1).
///
/// z0, z1: [n, d] projections of two views of the same n images, normalised here. Every row must pick out its other view
/// among the other 2N - 1 rows of all ranks: cross entropy over cosine similarities divided by `temperature`, N being the
/// images of all ranks. Ranks may hold different n, as long as none is empty.
///
/// Returns a scalar, in float32 or better: world / 2N times the sum over this rank's own rows. So the mean over ranks is the
/// loss of the whole batch, however it was cut, and so is its gradient. Throws c10::Error for shapes that do not match.
torch::Tensor ntxent(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, const dist::Ranks &ranks);

} // namespace parallax::losses
