// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/memorybank.h"

#include <ostream>

namespace parallax::nn {

namespace {

torch::Tensor unitRows(const torch::Tensor &x)
{
    return torch::nn::functional::normalize(x, torch::nn::functional::NormalizeFuncOptions().p(2).dim(1));
}

} // namespace

MemoryBankImpl::MemoryBankImpl(std::int64_t size, std::int64_t d)
{
    TORCH_CHECK(size > 0 && d > 0, "A memory bank needs rows and columns, not ", size, " and ", d);
    bank = register_buffer("bank", unitRows(torch::randn({size, d})));
    bank_ptr = register_buffer("bank_ptr", torch::zeros({1}, torch::kInt64));
}

void MemoryBankImpl::enqueue(const torch::Tensor &rows, const dist::Ranks &ranks)
{
    torch::NoGradGuard noGrad;
    const std::int64_t size = bank.size(0);
    TORCH_CHECK(rows.dim() == 2 && rows.size(1) == bank.size(1), "A memory bank of width ", bank.size(1),
                " was given rows of shape ", rows.sizes());
    const torch::Tensor all = ranks.allGatherRows(rows.detach().to(bank.scalar_type()));
    // The pointer stays on the device: a GPU need not wait for it.
    const std::int64_t skipped = std::max<std::int64_t>(0, all.size(0) - size);
    const torch::Tensor place = (bank_ptr + torch::arange(skipped, all.size(0), bank_ptr.options())).remainder(size);
    bank.index_copy_(0, place, all.narrow(0, skipped, all.size(0) - skipped));
    bank_ptr.add_(all.size(0)).remainder_(size);
}

torch::Tensor MemoryBankImpl::nearest(const torch::Tensor &z) const
{
    torch::NoGradGuard noGrad;
    TORCH_CHECK(z.dim() == 2 && z.size(1) == bank.size(1), "A memory bank of width ", bank.size(1),
                " was asked for neighbours of ", z.sizes());
    const torch::Tensor cosine = torch::matmul(unitRows(z.detach().to(bank.scalar_type())), unitRows(bank).t());
    return bank.index_select(0, cosine.argmax(1));
}

void MemoryBankImpl::pretty_print(std::ostream &stream) const
{
    stream << "parallax::nn::MemoryBank(" << bank.size(0) << ", " << bank.size(1) << ")";
}

} // namespace parallax::nn
