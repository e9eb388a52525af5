// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Weights of VICReg's three terms, and what is added to a variance before its root is taken.
struct VicRegOptions {
    double invariance = 25, variance = 25, covariance = 1;
    double eps = 1e-4;
};

/// VICReg (Bardes et al. 2022, arXiv:2105.04906, equation 6).
///
/// x, y: [n, d] or [n, m, …, d] projections of two views; with more than two dimensions variance and covariance are taken
/// over n at every place, and averaged. Invariance is the mean squared difference; variance keeps every standard deviation
/// above 1 (mean over both views); covariance draws what is off the diagonal to 0 (sum of both views).
///
/// Variance and covariance are those of all ranks' rows; invariance is this rank's part of the mean. So the mean over ranks
/// is the loss of the whole batch. Throws c10::Error for shapes that do not match and for fewer than two rows over all
/// ranks.
torch::Tensor vicReg(const torch::Tensor &x, const torch::Tensor &y, const VicRegOptions &options, const dist::Ranks &ranks);

/// The terms, of all ranks' rows x: [N, …, d].
torch::Tensor varianceTerm(const torch::Tensor &x, double eps);
torch::Tensor covarianceTerm(const torch::Tensor &x);

} // namespace parallax::losses
