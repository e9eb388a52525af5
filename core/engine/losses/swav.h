// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <vector>

namespace parallax::losses {

struct SwavOptions {
    double temperature = 0.1;
    int iterations = 3;    ///< of Sinkhorn-Knopp
    double epsilon = 0.05; ///< its regularisation: small is sharp
};

/// SwAV's swapped prediction (Caron et al. 2020, arXiv:2006.09882, equation 2, with multi-crop).
///
/// high, low: scores [n, K] of full-size and of small crops against the prototypes. Every full-size crop is turned into soft
/// assignments by Sinkhorn-Knopp over the rows of all ranks, and all other crops must predict them: cross entropy with
/// softmax(scores / temperature), mean over the crops. `queues`: none, or one [rows, K] for each full-size crop, scores of
/// earlier features that take part in the assignment only. Assignments receive no gradient.
///
/// Returns world / N times the sum over the own rows. Throws c10::Error for shapes that do not match.
torch::Tensor swav(const std::vector<torch::Tensor> &high, const std::vector<torch::Tensor> &low,
                   const std::vector<torch::Tensor> &queues, const SwavOptions &options, const dist::Ranks &ranks);

} // namespace parallax::losses
