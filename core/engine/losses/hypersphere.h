// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

struct HypersphereOptions {
    double alpha = 2;      ///< power of the distance between the views
    double t = 1;          ///< sharpness of the uniformity
    double uniformity = 1; ///< its weight
};

/// Alignment and uniformity (Wang and Isola 2020, arXiv:2005.10242).
///
/// z0, z1: [n, d], normalised here. Mean ‖a − b‖^alpha, plus `uniformity` times the mean over both views of log of the mean
/// of exp(−t ‖aᵢ − aⱼ‖²) over the pairs i < j of all ranks' rows, on logarithms: it does not underflow.
///
/// The mean over ranks is the whole batch's loss. Throws c10::Error for shapes that do not match and a single row over all
/// ranks.
torch::Tensor hypersphere(const torch::Tensor &z0, const torch::Tensor &z1, const HypersphereOptions &options,
                          const dist::Ranks &ranks);

} // namespace parallax::losses
