// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/head.h"

namespace parallax::nn {

/// A linear layer without bias whose rows have a length of their own (Salimans and Kingma 2016, arXiv:1602.07868): row i of the
/// weight is weight_g[i] · weight_v[i] / |weight_v[i]|. [n, in] → [n, out].
class WeightNormLinearImpl : public torch::nn::Module
{
public:
    WeightNormLinearImpl(std::int64_t in, std::int64_t out);
    torch::Tensor forward(const torch::Tensor &x) { return torch::linear(x, torch::_weight_norm(weight_v, weight_g, 0)); }

    torch::Tensor weight_g, weight_v; ///< [out, 1], at first ones; [out, in]
};
TORCH_MODULE(WeightNormLinear);

struct DinoHeadOptions {
    std::int64_t in = 2048, hidden = 2048, bottleneck = 256, out = 65536;
    bool batchNorm = false;
    bool normLastLayer = true; ///< the prototypes keep length 1: weight_g does not learn
    double initDeviation = 0.02;
};

/// The projection head of DINO (Caron et al. 2021, arXiv:2104.14294), and without normLastLayer that of DINOv2 (Oquab et al.
/// 2023, arXiv:2304.07193): a perceptron of three layers with GELU, its output on the unit sphere, then the prototypes.
/// [n, in] → [n, out].
class DinoHeadImpl : public torch::nn::Module
{
public:
    explicit DinoHeadImpl(const DinoHeadOptions &options);
    torch::Tensor forward(const torch::Tensor &x);

    /// The prototypes lose their gradient: called after backward in the first epochs, which they sit out.
    void dropLastLayerGradient();

private:
    Head m_layers = nullptr;
    WeightNormLinear m_last = nullptr;
};
TORCH_MODULE(DinoHead);

} // namespace parallax::nn
