// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/swav.h"

#include "core/engine/losses/sinkhorn.h"
#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor swav(const std::vector<torch::Tensor> &high, const std::vector<torch::Tensor> &low,
                   const std::vector<torch::Tensor> &queues, const SwavOptions &options, const dist::Ranks &ranks)
{
    TORCH_CHECK(!high.empty() && high.size() + low.size() > 1, "SwAV needs two crops, one of them of full size");
    TORCH_CHECK(queues.empty() || queues.size() == high.size(), "SwAV was given ", queues.size(), " queues for ",
                high.size(), " full-size crops");
    std::vector<torch::Tensor> crops = high;
    crops.insert(crops.end(), low.begin(), low.end());
    for (const auto &crop : crops)
        TORCH_CHECK(crop.dim() == 2 && crop.sizes() == crops[0].sizes(), "SwAV takes crops of one shape [n, K], not ",
                    crop.sizes(), " beside ", crops[0].sizes());
    const std::int64_t n = crops[0].size(0);

    torch::Tensor sum = torch::zeros({n}, widened(crops[0]).options());
    for (std::size_t i = 0; i < high.size(); ++i) {
        torch::Tensor scores = widened(high[i].detach());
        if (!queues.empty()) scores = torch::cat({scores, widened(queues[i].detach())});
        const torch::Tensor target = sinkhorn(scores / options.epsilon, options.iterations, ranks).narrow(0, 0, n);
        for (std::size_t v = 0; v < crops.size(); ++v)
            if (v != i) sum = sum + softCrossEntropy(target, widened(crops[v]) / options.temperature);
    }
    return rankMean(sum, ranks) / double(high.size() * (crops.size() - 1));
}

} // namespace parallax::losses
