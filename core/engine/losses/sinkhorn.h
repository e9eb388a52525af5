// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Sinkhorn-Knopp: soft assignments that use all columns alike (Cuturi 2013, arXiv:1306.0895; SwAV: Caron et al. 2020,
/// arXiv:2006.09882, appendix A). No gradient.
///
/// logits: [n, K], already divided by the regularisation. Each iteration normalises the columns over the rows of all ranks,
/// then the rows; with none, exp(logits) is scaled to N over all ranks. Returns [n, K], rows that sum to 1.
/// It works on logarithms, so that no logit is too large; lightly's overflows from 88 on (logits of 4.4 at epsilon 0.05).
torch::Tensor sinkhorn(const torch::Tensor &logits, int iterations, const dist::Ranks &ranks);

/// The same for each place of a sequence by itself, logits: [n, m, K], with `floor` added to every sum, and every cluster
/// shifted to a largest value of 1 instead of the first scaling (CAPI: Darcet et al. 2025, arXiv:2502.08769).
torch::Tensor positionwiseSinkhorn(const torch::Tensor &logits, int iterations, double floor, const dist::Ranks &ranks);

} // namespace parallax::losses
