// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

namespace parallax::nn {

/// Centres of k-means (Lloyd 1982) by cosine: rows [n, d] → [k, d], unit vectors. Starts at k rows drawn by torch's generator;
/// a centre without rows takes a row drawn anew. Of fewer rows than centres some come twice. No gradient; the same on all ranks
/// that hold the same rows and seed. Throws c10::Error without any row.
torch::Tensor kMeans(const torch::Tensor &rows, std::int64_t k, int iterations);

} // namespace parallax::nn
