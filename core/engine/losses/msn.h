// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::losses {

struct MsnOptions {
    double temperature = 0.1, sharpening = 0.25; ///< of all softmaxes; of the targets on top of it
    int iterations = 3;                          ///< of Sinkhorn-Knopp on the targets; 0: none
    double regularisation = 1;                   ///< weight of the mean-anchor term
};

/// Masked Siamese networks (Assran et al. 2022, arXiv:2204.07141, equation 1).
///
/// anchors: [V·n, d] masked views, view-major; targets: [n, d]; prototypes: [K, d]; all normalised here. Each anchor's
/// softmax over the prototypes must match its sharpened, Sinkhorn-balanced target, which receives no gradient; plus
/// `regularisation` times log K − entropy of the mean anchor. Balance and mean anchor are those of all ranks' rows, so that
/// many ranks give what one process gives (lightly's mean anchor is the own rows'). It works on logarithms: lightly's powers
/// of probabilities underflow from a temperature of 0.01 on.
///
/// The mean over ranks is the whole batch's loss. Throws c10::Error for shapes that do not match.
torch::Tensor msn(const torch::Tensor &anchors, const torch::Tensor &targets, const torch::Tensor &prototypes,
                  const MsnOptions &options, const dist::Ranks &ranks);

/// The same with a prior other than the uniform one (Assran et al. 2023, arXiv:2210.07277): the regulariser is KL(prior ‖
/// mean anchor). prior: [K], sums to 1.
torch::Tensor pmsn(const torch::Tensor &anchors, const torch::Tensor &targets, const torch::Tensor &prototypes,
                   const torch::Tensor &prior, const MsnOptions &options, const dist::Ranks &ranks);

/// k^−exponent for k = 1 … size, scaled to 1, in float32.
torch::Tensor powerLaw(std::int64_t size, double exponent, torch::Device device);

} // namespace parallax::losses
