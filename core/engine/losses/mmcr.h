// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Maximum manifold capacity (Yerxa et al. 2023, arXiv:2303.03307): views of an image gather, images spread.
///
/// online, momentum: [n, V, d], V views from each of two networks, not normalised here (the paper works on the sphere: the
/// caller normalises). −‖mean over the 2V views‖_* over the images of all ranks, plus lambda times the mean over images of
/// the nuclear norm of its 2V views.
///
/// The mean over ranks is the whole batch's loss. Throws c10::Error for shapes that do not match.
torch::Tensor mmcr(const torch::Tensor &online, const torch::Tensor &momentum, double lambda, const dist::Ranks &ranks);

} // namespace parallax::losses
