// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

#include <vector>

/// What several losses compute, once.
namespace parallax::losses {

/// Half precision widened to float32: it overflows exp(1 / temperature) from a temperature of 0.09 on.
torch::Tensor widened(const torch::Tensor &x);

/// x / max(|x|, eps) along `dim`, widened. A zero row stays zero, with a zero gradient.
torch::Tensor normalised(const torch::Tensor &x, std::int64_t dim = -1, double eps = 1e-12);

/// This rank's part of the mean over all ranks' rows: world / N times the sum over the own values [n, …], per value of a
/// row. The mean over ranks is the mean of the whole batch, however it was cut, and so is its gradient.
torch::Tensor rankMean(const torch::Tensor &values, const dist::Ranks &ranks);

/// The mean over all ranks' rows itself, alike on all ranks; its gradient is that of the sum of the ranks' losses.
torch::Tensor globalMean(const torch::Tensor &values, const dist::Ranks &ranks);

/// log Σ exp over the rows (dimension 0) of all ranks, with gradient, free of overflow. [n, …] → […]
torch::Tensor logSumExpOfRows(const torch::Tensor &values, const dist::Ranks &ranks);

/// A [.., d, d] with its diagonal set to zero.
torch::Tensor offDiagonal(const torch::Tensor &square);

/// −Σ target · log_softmax(logits) over the last dimension: one value a row.
torch::Tensor softCrossEntropy(const torch::Tensor &target, const torch::Tensor &logits);

/// Rows of all ranks, of several tensors [n, dᵢ] at once: one collective, with gradient.
std::vector<torch::Tensor> gatherTogether(const std::vector<torch::Tensor> &rows, const dist::Ranks &ranks);

/// `count` unit vectors as columns [d, count], drawn from torch's generator, those of rank 0 on all ranks.
torch::Tensor randomDirections(std::int64_t d, std::int64_t count, const torch::TensorOptions &options,
                               const dist::Ranks &ranks);

} // namespace parallax::losses
