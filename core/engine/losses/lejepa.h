// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

struct LeJepaOptions {
    double lambda = 0.05; ///< share of the regulariser
    int knots = 17;       ///< at which the characteristic functions are compared, from 0 to `last`
    double last = 3;
};

/// LeJEPA (Balestriero and LeCun 2025, arXiv:2511.08544): views agree with the mean global view, and their projections on
/// random directions are drawn to the standard normal distribution (SIGReg, the Epps-Pulley statistic).
///
/// local: [V, n, d], global: [W, n, d]; directions: [d, S], columns normalised here, the same on all ranks (see
/// randomDirections). lambda · SIGReg + (1 − lambda) · mean squared difference; SIGReg is over the rows of all ranks.
///
/// The mean over ranks is the whole batch's loss. Throws c10::Error for shapes that do not match.
torch::Tensor leJepa(const torch::Tensor &local, const torch::Tensor &global, const torch::Tensor &directions,
                     const LeJepaOptions &options, const dist::Ranks &ranks);

/// This rank's part of the mean squared difference between all views and the mean global view.
torch::Tensor centroidInvariance(const torch::Tensor &all, const torch::Tensor &global, const dist::Ranks &ranks);

} // namespace parallax::losses
