// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/prototypes.h"

namespace parallax::nn {

PrototypesImpl::PrototypesImpl(std::int64_t in, const std::vector<std::int64_t> &counts)
{
    TORCH_CHECK(!counts.empty(), "There are no prototypes");
    const auto heads = register_module("heads", std::make_shared<torch::nn::Module>());
    for (const std::int64_t count : counts)
        m_heads.push_back(heads->register_module(std::to_string(m_heads.size()), torch::nn::Linear(in, count)));
}

std::vector<torch::Tensor> PrototypesImpl::scores(const torch::Tensor &x)
{
    std::vector<torch::Tensor> all;
    for (auto &head : m_heads) all.push_back(head->forward(x));
    return all;
}

torch::Tensor PrototypesImpl::forward(const torch::Tensor &x)
{
    TORCH_CHECK(m_heads.size() == 1, "These are ", m_heads.size(), " sets of prototypes: ask for the scores of each");
    return m_heads.front()->forward(x);
}

void PrototypesImpl::normalise()
{
    torch::NoGradGuard noGrad;
    const auto options = torch::nn::functional::NormalizeFuncOptions().p(2).dim(1);
    for (auto &head : m_heads) head->weight.copy_(torch::nn::functional::normalize(head->weight, options));
}

void PrototypesImpl::dropGradient()
{
    for (auto &parameter : parameters()) parameter.mutable_grad().reset();
}

} // namespace parallax::nn
