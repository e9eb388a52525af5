// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/droppath.h"

#include <algorithm>

namespace parallax::nn {

DropPathImpl::DropPathImpl(std::vector<double> rates) : m_rates(std::move(rates))
{
    for (const double rate : m_rates)
        TORCH_CHECK(rate >= 0 && rate < 1, "A drop path rate lies in 0 … 1 (without 1), not ", rate);
}

void DropPathImpl::draw(const torch::Tensor &images)
{
    m_factors.reset();
    if (!is_training() || std::ranges::all_of(m_rates, [](double rate) { return rate == 0; })) return;
    const std::int64_t n = images.size(0);
    const auto [offset, total] = m_ranks ? m_ranks->offsetOf(n) : std::pair(std::int64_t(0), n);
    const torch::Tensor rates = torch::tensor(m_rates, torch::kFloat64);
    const torch::Tensor luck = torch::rand({total, std::int64_t(m_rates.size())}, torch::kFloat64).narrow(0, offset, n);
    m_factors = ((luck >= rates).to(torch::kFloat64) / (1 - rates)).to(images.device());
}

torch::Tensor DropPathImpl::forward(const torch::Tensor &x, std::size_t branch) const
{
    if (!m_factors.defined() || m_rates.at(branch) == 0) return x;
    std::vector<std::int64_t> shape(std::size_t(x.dim()), 1);
    shape[0] = x.size(0);
    return x * m_factors.select(1, std::int64_t(branch)).to(x.scalar_type()).view(shape);
}

std::vector<double> dropPathRates(double last, std::int64_t blocks, std::int64_t branches)
{
    std::vector<double> rates;
    for (std::int64_t i = 0; i < blocks; ++i)
        rates.insert(rates.end(), std::size_t(branches), last * double(i) / double(std::max<std::int64_t>(1, blocks - 1)));
    return rates;
}

void drawForAllRanks(torch::nn::Module &module, const std::shared_ptr<const dist::Ranks> &ranks)
{
    if (ranks->world() == 1) return;
    module.apply([&](torch::nn::Module &part) {
        if (auto *depth = dynamic_cast<DropPathImpl *>(&part)) depth->setRanks(ranks);
    });
}

} // namespace parallax::nn
