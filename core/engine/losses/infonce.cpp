// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/infonce.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor infoNce(const torch::Tensor &query, const torch::Tensor &key, double temperature, const dist::Ranks &ranks)
{
    TORCH_CHECK(query.dim() == 2 && query.sizes() == key.sizes(), "InfoNCE takes two tensors of one shape [n, d], not ",
                query.sizes(), " and ", key.sizes());
    const std::int64_t n = query.size(0);
    const auto offset = ranks.offsetOf(n).first;
    const torch::Tensor keys = ranks.allGatherRows(normalised(key.detach()));
    const torch::Tensor logits = torch::matmul(normalised(query), keys.t()) / temperature; // [n, N]
    const torch::Tensor own = torch::arange(offset, offset + n, torch::TensorOptions(torch::kInt64).device(query.device()));
    return rankMean(-torch::log_softmax(logits, 1).gather(1, own.unsqueeze(1)).squeeze(1), ranks);
}

} // namespace parallax::losses
