// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

struct VisRegOptions {
    double lambda = 0.9; ///< share of the regulariser
    double scale = 1, shape = 1, center = 1;
    double eps = 1e-4; ///< added to a standard deviation before it divides
};

/// VISReg (Wu et al. 2026, arXiv:2606.02572): views agree with the mean global view; every view has mean 0 (center) and
/// standard deviation 1 (scale) in each dimension; and its standardised projections on random directions, sorted, match the
/// quantiles of the standard normal distribution (shape; the deviation there has no gradient).
///
/// local: [V, n, d], global: [W, n, d]; directions: [d, S], columns normalised here, the same on all ranks (see
/// randomDirections). The regularisers are over the rows of all ranks.
///
/// The mean over ranks is the whole batch's loss. Throws c10::Error for shapes that do not match and a single row over all
/// ranks.
torch::Tensor visReg(const torch::Tensor &local, const torch::Tensor &global, const torch::Tensor &directions,
                     const VisRegOptions &options, const dist::Ranks &ranks);

} // namespace parallax::losses
