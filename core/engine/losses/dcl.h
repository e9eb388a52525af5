// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Decoupled contrastive learning (Yeh et al. 2022, arXiv:2110.06848, equation 6): NT-Xent whose denominator lacks the
/// positive pair. z0, z1: [n, d], normalised here; negatives are both views of all other images, N − 1 over all ranks.
///
/// Returns world / N times the sum over the own rows, half for each direction. Throws c10::Error for shapes that do not
/// match and when N is 1.
torch::Tensor dcl(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, const dist::Ranks &ranks);

/// DCL with the positive term weighted by 2 − N · softmax(cosine / sigma) over the batch, no gradient (same paper): pairs
/// that still differ count more. The softmax runs over the images of all ranks, so that many ranks give what one process
/// gives; lightly's runs over the own ones.
torch::Tensor dclw(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, double sigma,
                   const dist::Ranks &ranks);

} // namespace parallax::losses
