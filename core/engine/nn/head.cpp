// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/head.h"

namespace parallax::nn {

HeadImpl::HeadImpl(const std::vector<HeadLayer> &layers)
{
    for (const auto &layer : layers) {
        m_layers->push_back(torch::nn::Linear(torch::nn::LinearOptions(layer.in, layer.out).bias(!layer.batchNorm)));
        if (layer.batchNorm) m_layers->push_back(BatchNorm(layer.out));
        if (layer.relu) m_layers->push_back(torch::nn::ReLU());
    }
    register_module("layers", m_layers);
}

Head simclrProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int layers, bool batchNorm)
{
    TORCH_CHECK(layers >= 2, "A projection head has at least 2 layers, not ", layers);
    std::vector<HeadLayer> parts{{in, hidden, batchNorm, true}};
    for (int i = 2; i < layers; ++i) parts.push_back({hidden, hidden, batchNorm, true});
    parts.push_back({hidden, out, batchNorm, false});
    return Head(parts);
}

} // namespace parallax::nn
