// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <vector>

namespace parallax::nn {

/// Prototypes of SwAV (Caron et al. 2020, arXiv:2006.09882): one linear layer for each entry of `counts`, from [n, in] to
/// [n, count]. Named heads.0, heads.1, … in the state dict.
class PrototypesImpl : public torch::nn::Module
{
public:
    PrototypesImpl(std::int64_t in, const std::vector<std::int64_t> &counts);
    PrototypesImpl(std::int64_t in, std::int64_t count) : PrototypesImpl(in, std::vector<std::int64_t>{count}) { }

    /// Scores of every set.
    std::vector<torch::Tensor> scores(const torch::Tensor &x);
    /// Scores where there is one set; throws c10::Error where there are more.
    torch::Tensor forward(const torch::Tensor &x);

    /// Every prototype gets length 1, in place and without gradient; the biases stay.
    void normalise();
    /// The prototypes lose their gradient: called after backward while they are frozen.
    void dropGradient();

private:
    std::vector<torch::nn::Linear> m_heads;
};
TORCH_MODULE(Prototypes);

} // namespace parallax::nn
