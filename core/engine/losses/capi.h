// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

struct CapiOptions {
    double teacherTemperature = 0.06, studentTemperature = 0.12;
    int iterations = 3; ///< of Sinkhorn-Knopp
};

/// CAPI's clustering loss (Darcet et al. 2025, arXiv:2502.08769): the student predicts the cluster that the teacher gives
/// each token, the clusters being balanced at every place of the sequence over the images of all ranks.
///
/// teacher: [n, m, K] logits, no gradient; student: [n, P, K]; index: [n, P], the tokens that the student predicts, or
/// undefined when P = m. Returns world / N times the sum over the own images of their mean cross entropy. Throws c10::Error
/// for shapes that do not match.
torch::Tensor capi(const torch::Tensor &teacher, const torch::Tensor &student, const torch::Tensor &index,
                   const CapiOptions &options, const dist::Ranks &ranks);

} // namespace parallax::losses
