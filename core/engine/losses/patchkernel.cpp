// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/patchkernel.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

namespace {

/// Gram matrix [n, m, m] of the tokens less their mean, both over those of weight 1; 0 for the others.
torch::Tensor centredGram(const torch::Tensor &tokens, const torch::Tensor &weight)
{
    const torch::Tensor w = weight.unsqueeze(2); // [n, m, 1]
    const torch::Tensor mean = (tokens * w).sum(1, /*keepdim=*/true) / w.sum(1, /*keepdim=*/true).clamp_min(1);
    const torch::Tensor centred = (tokens - mean) * w;
    return torch::matmul(centred, centred.transpose(1, 2));
}

} // namespace

torch::Tensor patchKernelAlignment(const torch::Tensor &student, const torch::Tensor &teacher, const torch::Tensor &mask,
                                   const dist::Ranks &ranks)
{
    TORCH_CHECK(student.dim() == 3 && teacher.dim() == 3 && student.sizes().slice(0, 2) == teacher.sizes().slice(0, 2),
                "Patch kernel alignment takes tokens [n, m, d] and [n, m, e], not ", student.sizes(), " and ",
                teacher.sizes());
    const torch::Tensor x = widened(student), y = widened(teacher.detach());
    const torch::Tensor weight = mask.defined() ? mask.to(torch::kBool).logical_not().to(x.scalar_type())
                                                : torch::ones(x.sizes().slice(0, 2), x.options());
    const torch::Tensor k = centredGram(x, weight), l = centredGram(y, weight);
    const auto hsic = [](const torch::Tensor &a, const torch::Tensor &b) { return (a * b).sum({1, 2}); };
    const torch::Tensor alignment = hsic(k, l) / (hsic(k, k).clamp_min(1e-6).sqrt() * hsic(l, l).clamp_min(1e-6).sqrt());
    const torch::Tensor counts = weight.sum(1).ge(2).to(x.scalar_type()); // [n], 1 for images that count
    torch::Tensor total = counts.sum();
    ranks.allReduceSum(total);
    return ((1 - alignment) * counts).sum() * double(ranks.world()) / total.clamp_min(1);
}

} // namespace parallax::losses
