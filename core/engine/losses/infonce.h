// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// InfoNCE in one direction (van den Oord et al. 2018, arXiv:1807.03748; MoCo v3: Chen et al. 2021, arXiv:2104.02057, equation
/// 1): each query must pick out its own key among the keys of all N images of all ranks. query, key: [n, d], normalised here;
/// keys receive no gradient, as a momentum network's.
///
/// Returns world / N times the sum over the own rows: the mean over ranks is the whole batch's loss. Throws c10::Error for
/// shapes that do not match.
torch::Tensor infoNce(const torch::Tensor &query, const torch::Tensor &key, double temperature, const dist::Ranks &ranks);

} // namespace parallax::losses
