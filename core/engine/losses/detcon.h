// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <array>

namespace parallax::losses {

/// DetCon (Hénaff et al. 2021, arXiv:2103.10957): contrastive learning of regions.
///
/// prediction, target: for each view [n, m, d], one vector a region, normalised here; region: for each view [n, m], which
/// region of the image each vector is of. Positives are the same region of the same image in the other view (their mean log
/// probability); negatives all other vectors of both views of all ranks, except the same region of the same image in the
/// same view. A vector without a positive counts as 0, and one whose region occurs k times in its view by 1/k. Sum over the
/// views of the mean over all vectors. DetCon-S: the same tensors as prediction and target; DetCon-B: predictor and momentum
/// network.
///
/// Returns world / N times the sum over the own images. Throws c10::Error for shapes that do not match.
torch::Tensor detCon(const std::array<torch::Tensor, 2> &prediction, const std::array<torch::Tensor, 2> &target,
                     const std::array<torch::Tensor, 2> &region, double temperature, const dist::Ranks &ranks);

} // namespace parallax::losses
