// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/batchnorm.h"

#include <torch/torch.h>

#include <vector>

namespace parallax::nn {

/// A linear layer of a head and what follows it. The linear layer has a bias only without batch norm, whose own would double it.
struct HeadLayer {
    std::int64_t in = 0, out = 0;
    bool batchNorm = true, relu = true;
};

/// A multi-layer perceptron behind a backbone: [n, in] → [n, out]. Its parts are "layers.0", "layers.1", … in the state dict,
/// counting linear layers, batch norms and activations.
class HeadImpl : public torch::nn::Module
{
public:
    explicit HeadImpl(const std::vector<HeadLayer> &layers);
    torch::Tensor forward(const torch::Tensor &x) { return m_layers->forward(x); }

private:
    torch::nn::Sequential m_layers;
};
TORCH_MODULE(Head);

/// The projection head of SimCLR (Chen et al. 2020, arXiv:2002.05709): `layers` linear layers (at least 2), batch norm behind
/// each, ReLU behind all but the last.
Head simclrProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int layers = 2, bool batchNorm = true);

} // namespace parallax::nn
