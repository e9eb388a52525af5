// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"
#include "core/engine/losses/vicreg.h"

#include <torch/torch.h>

#include <vector>

namespace parallax::losses {

/// One crop: its embedding, the embeddings of its places, and where in the image each place lies.
struct VicRegLView {
    torch::Tensor embedding; ///< [n, d]
    torch::Tensor map;       ///< [n, h, w, d]
    torch::Tensor grid;      ///< [n, h, w, 2], in units of the image's pixels
};

struct VicRegLOptions {
    VicRegOptions terms;
    double alpha = 0.75;                              ///< share of the embeddings' part
    std::int64_t matchesLarge = 20, matchesSmall = 4; ///< pairs of places kept of the first and of the second crop of a pair
};

/// VICRegL (Bardes et al. 2022, arXiv:2210.01571): VICReg on embeddings and on matched places.
///
/// alpha · G + (1 − alpha) · L, over ordered pairs of a full-size crop with every other crop. G: mean invariance of the
/// pairs, mean variance and covariance of all crops. L: mean over pairs of VICReg (its covariance halved, as in the authors'
/// code) between places of one crop and the nearest of the other, by embedding and by location, in both directions, of which
/// only the pairs of least distance are kept. Statistics are over the rows of all ranks, at each kept place.
///
/// The mean over ranks is the whole batch's loss. Throws c10::Error for shapes that do not match.
torch::Tensor vicRegL(const std::vector<VicRegLView> &high, const std::vector<VicRegLView> &low,
                      const VicRegLOptions &options, const dist::Ranks &ranks);

} // namespace parallax::losses
