// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <vector>

namespace parallax::losses {

/// EMP-SSL (Tong et al. 2023, arXiv:2304.03977): many crops of an image agree while the batch keeps a large coding
/// rate: −codingRate + invariance · (−mean cosine of each view with the mean view).
///
/// views: V tensors [n, d], normalised by the caller. The coding rate is maximised, as the authors' code does; lightly's
/// loss has the other sign, which would make it small.
///
/// The mean over ranks is the whole batch's loss. Throws c10::Error for shapes that do not match.
torch::Tensor empSsl(const std::vector<torch::Tensor> &views, double eps, double invariance, const dist::Ranks &ranks);

/// Mean over views of ½ log det(I + d / (N eps) ZᵀZ), over the rows of all ranks; alike on all ranks.
torch::Tensor codingRate(const std::vector<torch::Tensor> &views, double eps, const dist::Ranks &ranks);

} // namespace parallax::losses
