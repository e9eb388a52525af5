// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <vector>

namespace parallax::losses {

/// FroSSL (Skean et al. 2024, arXiv:2310.02903): views agree, and each view's covariance spreads over all
/// directions.
///
/// views: V tensors [n, d]. Columns are scaled to length 1 over the rows of all ranks; Σ over views of 2 log ‖ZᵀZ / trace‖_F
/// (the trace without gradient), plus `invariance` · V · d times the mean squared difference from the mean view.
///
/// Returns the whole batch's loss on every rank; its gradient is world times the own share. Throws c10::Error for shapes
/// that do not match and for a single view.
torch::Tensor froSsl(const std::vector<torch::Tensor> &views, double invariance, const dist::Ranks &ranks);

} // namespace parallax::losses
