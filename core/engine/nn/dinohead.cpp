// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/dinohead.h"

#include <cmath>

namespace parallax::nn {

WeightNormLinearImpl::WeightNormLinearImpl(std::int64_t in, std::int64_t out)
{
    weight_g = register_parameter("weight_g", torch::ones({out, 1}));
    weight_v = register_parameter("weight_v", torch::empty({out, in}));
    torch::nn::init::kaiming_uniform_(weight_v, std::sqrt(5.0)); // as a linear layer
}

DinoHeadImpl::DinoHeadImpl(const DinoHeadOptions &options)
{
    const HeadNorm norm = options.batchNorm ? HeadNorm::Batch : HeadNorm::None;
    m_layers = Head(std::vector<HeadLayer>{{options.in, options.hidden, norm, Activation::Gelu},
                                           {options.hidden, options.hidden, norm, Activation::Gelu},
                                           {options.hidden, options.bottleneck, HeadNorm::None, Activation::None}});
    register_module("layers", m_layers->children().front()); // without a level of their own in the names
    m_last = register_module("last_layer", WeightNormLinear(options.bottleneck, options.out));
    m_last->weight_g.set_requires_grad(!options.normLastLayer);
    m_layers->apply([&](torch::nn::Module &part) {
        auto *linear = dynamic_cast<torch::nn::LinearImpl *>(&part);
        if (!linear) return;
        torch::nn::init::normal_(linear->weight, 0, options.initDeviation);
        if (linear->bias.defined()) torch::nn::init::zeros_(linear->bias);
    });
}

torch::Tensor DinoHeadImpl::forward(const torch::Tensor &x)
{
    const torch::Tensor z = m_layers->forward(x);
    return m_last->forward(torch::nn::functional::normalize(z, torch::nn::functional::NormalizeFuncOptions().p(2).dim(-1)));
}

void DinoHeadImpl::dropLastLayerGradient()
{
    for (auto &parameter : m_last->parameters()) parameter.mutable_grad().reset();
}

} // namespace parallax::nn
