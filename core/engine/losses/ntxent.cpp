// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ntxent.h"

#include "core/engine/losses/pairs.h"
#include "core/engine/losses/tensors.h"

namespace parallax::losses {

torch::Tensor ntxent(const torch::Tensor &z0, const torch::Tensor &z1, double temperature, const dist::Ranks &ranks)
{
    const Pairs pairs = pairsOf(z0, z1, ranks, "NT-Xent");
    const torch::Tensor sum = torch::nn::functional::cross_entropy(
        pairs.cosine / temperature, pairs.partner, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
    return sum * (double(ranks.world()) / double(2 * pairs.total));
}

torch::Tensor ntxentAgainstBank(const torch::Tensor &query, const torch::Tensor &key, const torch::Tensor &bank,
                                double temperature, const dist::Ranks &ranks)
{
    TORCH_CHECK(query.dim() == 2 && query.sizes() == key.sizes(), "NT-Xent takes query and key of one shape [n, d], not ",
                query.sizes(), " and ", key.sizes());
    TORCH_CHECK(bank.dim() == 2 && bank.size(1) == query.size(1), "NT-Xent was given a bank of shape ", bank.sizes(),
                " for projections of ", query.size(1), " values");
    const torch::Tensor a = normalised(query), b = normalised(key.detach());
    const torch::Tensor positive = (a * b).sum(1, /*keepdim=*/true);
    const torch::Tensor negative = torch::matmul(a, bank.detach().to(a.scalar_type()).t());
    const torch::Tensor logits = torch::cat({positive, negative}, 1) / temperature; // [n, 1 + size]
    return rankMean(logits.logsumexp(1) - logits.select(1, 0), ranks);
}

torch::Tensor directClr(const torch::Tensor &z0, const torch::Tensor &z1, std::int64_t dims, double temperature,
                        const dist::Ranks &ranks)
{
    TORCH_CHECK(z0.dim() == 2 && z1.dim() == 2 && dims > 0 && dims <= z0.size(1) && dims <= z1.size(1),
                "DirectCLR was asked for the first ", dims, " of the values in ", z0.sizes(), " and ", z1.sizes());
    return ntxent(z0.narrow(1, 0, dims), z1.narrow(1, 0, dims), temperature, ranks);
}

} // namespace parallax::losses
