// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/macl.h"

#include "core/engine/losses/pairs.h"
#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor macl(const torch::Tensor &z0, const torch::Tensor &z1, const MaclOptions &options, const dist::Ranks &ranks)
{
    const Pairs pairs = pairsOf(z0, z1, ranks, "MACL");
    const torch::Tensor partner = pairs.partner.unsqueeze(1);
    const torch::Tensor alignment = globalMean(pairs.cosine.detach().gather(1, partner), ranks);
    const torch::Tensor temperature = options.temperature * (1 + options.alpha * (alignment - options.alignment));
    const torch::Tensor logProbability = (pairs.cosine / temperature).log_softmax(1).gather(1, partner).squeeze(1); // [2n]
    const torch::Tensor weight = 1 / (1e-8 - logProbability.detach().expm1());
    return -rankMean(weight * logProbability, ranks);
}

} // namespace parallax::losses
