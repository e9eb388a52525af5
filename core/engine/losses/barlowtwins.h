// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Barlow Twins (Zbontar et al. 2021, arXiv:2103.03230, equations 1 and 2).
///
/// z0, z1: [n, d] projections of two views. Columns are standardised (biased variance, 1e-5 added to it); their
/// cross-correlation c: [d, d] is drawn to the identity: Σ (cᵢᵢ − 1)² + lambda Σ cᵢⱼ² off the diagonal. Mean, variance and
/// correlation are those of all ranks' rows, so that many ranks give what one process gives, whatever share each holds;
/// lightly standardises the own rows and averages the ranks' correlations.
///
/// Returns the whole batch's loss on every rank; its gradient is world times the own share. Throws c10::Error for shapes
/// that do not match.
torch::Tensor barlowTwins(const torch::Tensor &z0, const torch::Tensor &z1, double lambda, const dist::Ranks &ranks);

} // namespace parallax::losses
