// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Cosines of this rank's 2n rows, first views then second, with the 2N rows of all ranks, in the same order.
struct Pairs {
    torch::Tensor cosine;  ///< [2n, 2N]; −inf where a row meets itself
    torch::Tensor partner; ///< [2n], the column of the row's other view
    std::int64_t total;    ///< N, images of all ranks
};

/// Of projections z0, z1: [n, d] of two views. `loss` is named when the shapes do not match (c10::Error).
Pairs pairsOf(const torch::Tensor &z0, const torch::Tensor &z1, const dist::Ranks &ranks, const char *loss);

} // namespace parallax::losses
