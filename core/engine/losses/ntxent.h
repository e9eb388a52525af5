// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

/// Normalised temperature-scaled cross entropy (Chen et al. 2020, arXiv:2002.05709, equation 1).
///
/// z0, z1: [n, d] projections of two views of the same n images, normalised here. Every row must pick out its other view
/// among the other 2N - 1 rows of all ranks: cross entropy over cosine similarities divided by `temperature`, N being the
/// images of all ranks. Ranks may hold different n, as long as none is empty.
///
/// Returns a scalar, in float32 or better: world / 2N times the sum over this rank's own rows. So the mean over ranks is the
/// loss of the whole batch, however it was cut, and so is its gradient. Throws c10::Error for shapes that do not match.
torch::Tensor ntxent(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, const dist::Ranks &ranks);

/// NT-Xent of a momentum encoder with a queue of keys (He et al. 2020, arXiv:1911.05722, equation 1): every query must pick
/// out its own key among the bank's rows.
///
/// query, key: [n, d], normalised here; bank: [size, d] as nn::MemoryBank keeps it, rows normalised by who enqueued them.
/// Key and bank never receive a gradient: they come from the momentum encoder. (lightly lets one through to the key unless
/// the caller cuts it.) The caller enqueues the key after this call, so that no query meets its own key twice.
///
/// Returns world / N times the sum over the own rows. Throws c10::Error for shapes that do not match.
torch::Tensor ntxentAgainstBank(const torch::Tensor &query, const torch::Tensor &key, const torch::Tensor &bank,
                                double temperature, const dist::Ranks &ranks);

/// NT-Xent of the first `dims` values of each row, without a projection head (Jing et al. 2022, arXiv:2110.09348).
torch::Tensor directClr(const torch::Tensor &z0, const torch::Tensor &z1, std::int64_t dims, double temperature,
                        const dist::Ranks &ranks);

} // namespace parallax::losses
