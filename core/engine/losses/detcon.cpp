// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/detcon.h"

#include "core/engine/losses/tensors.h"

#include <limits>

namespace parallax::losses {

namespace {

/// [n, m, m]: whether two vectors of an image show the same region.
torch::Tensor same(const torch::Tensor &a, const torch::Tensor &b) { return a.unsqueeze(2).eq(b.unsqueeze(1)); }

} // namespace

torch::Tensor detCon(const std::array<torch::Tensor, 2> &prediction, const std::array<torch::Tensor, 2> &target,
                     const std::array<torch::Tensor, 2> &region, double temperature, const dist::Ranks &ranks)
{
    for (std::size_t v = 0; v < 2; ++v)
        TORCH_CHECK(prediction[v].dim() == 3 && prediction[v].sizes() == prediction[0].sizes() &&
                        target[v].sizes() == prediction[0].sizes() && region[v].sizes() == prediction[0].sizes().slice(0, 2),
                    "DetCon takes vectors [n, m, d] and regions [n, m], not ", prediction[v].sizes(), ", ",
                    target[v].sizes(), " and ", region[v].sizes());
    const std::int64_t n = prediction[0].size(0), m = prediction[0].size(1), d = prediction[0].size(2);
    const torch::Tensor all = ranks.gather(torch::stack({normalised(target[0]), normalised(target[1])}, 1)); // [N, 2, m, d]
    const std::int64_t offset = ranks.offsetOf(n).first;
    const torch::Tensor image = torch::arange(n, torch::TensorOptions(torch::kInt64).device(all.device()));

    torch::Tensor sum;
    for (std::size_t v = 0; v < 2; ++v) {
        const torch::Tensor from = normalised(prediction[v]).view({n * m, d}) / temperature;
        // Cosines of the own vectors with those of one view of all images.
        const auto cosines = [&](std::size_t view) {
            return torch::matmul(from, all.select(1, std::int64_t(view)).reshape({-1, d}).t()).view({n, m, -1, m});
        };
        const torch::Tensor other = cosines(1 - v);
        torch::Tensor own = cosines(v);
        const torch::Tensor itself = same(region[v], region[v]), positive = same(region[v], region[1 - v]); // [n, m, m]
        torch::Tensor hidden = torch::zeros(own.sizes(), itself.options());                                 // [n, m, N, m]
        hidden.index_put_({image, torch::indexing::Slice(), image + offset}, itself);
        own = own.masked_fill(hidden, -std::numeric_limits<double>::infinity());

        const torch::Tensor norm = torch::cat({other.flatten(2), own.flatten(2)}, 2).logsumexp(2);   // [n, m]
        const torch::Tensor logits = other.index({image, torch::indexing::Slice(), image + offset}); // [n, m, m]
        // Shares 1/k in float32, as the reference implementation has them.
        const torch::Tensor chosen = positive.to(torch::kFloat32), share = chosen / chosen.sum(2, true).clamp_min(1);
        const torch::Tensor weight = 1 / itself.to(torch::kFloat32).sum(2);
        const torch::Tensor logProbability = (share * (logits - norm.unsqueeze(2))).sum(2);
        const torch::Tensor loss = rankMean(-weight * logProbability, ranks);
        sum = sum.defined() ? sum + loss : loss;
    }
    return sum;
}

} // namespace parallax::losses
