// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

struct MaclOptions {
    double temperature = 0.1;
    double alpha = 0.5;   ///< how much the temperature follows the alignment
    double alignment = 0; ///< the alignment at which the temperature is `temperature`
};

/// Model-aware contrastive learning (Huang et al. 2023, arXiv:2207.07874): NT-Xent whose temperature follows
/// the mean positive cosine, each row weighted by 1 / (1 − its positive's probability); neither has a gradient.
///
/// z0, z1: [n, d], normalised here. Alignment and negatives are those of all ranks' rows. Returns world / 2N times the sum
/// over the own rows. Throws c10::Error for shapes that do not match.
torch::Tensor macl(const torch::Tensor &z0, const torch::Tensor &z1, const MaclOptions &options, const dist::Ranks &ranks);

} // namespace parallax::losses
