// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/head.h"

namespace parallax::nn {

namespace {

/// `count` layers: the first in → hidden, then hidden → hidden.
std::vector<HeadLayer> hiddenLayers(int count, const HeadLayer &first)
{
    std::vector<HeadLayer> layers{first};
    for (int i = 1; i < count; ++i) {
        layers.push_back(first);
        layers.back().in = first.out;
    }
    return layers;
}

Head finish(std::vector<HeadLayer> layers, std::int64_t out, HeadNorm norm, std::optional<bool> bias = {})
{
    layers.push_back({layers.back().out, out, norm, Activation::None, bias});
    return Head(layers);
}

HeadNorm batchIf(bool wanted) { return wanted ? HeadNorm::Batch : HeadNorm::None; }

void checkLayers(int layers) { TORCH_CHECK(layers >= 2, "A projection head has at least 2 layers, not ", layers); }

} // namespace

HeadImpl::HeadImpl(const std::vector<HeadLayer> &layers)
{
    for (const auto &layer : layers) {
        const bool bias = layer.bias.value_or(layer.norm == HeadNorm::None);
        m_layers->push_back(torch::nn::Linear(torch::nn::LinearOptions(layer.in, layer.out).bias(bias)));
        if (layer.norm == HeadNorm::Layer)
            m_layers->push_back(torch::nn::LayerNorm(torch::nn::LayerNormOptions({layer.out})));
        if (layer.norm == HeadNorm::Batch || layer.norm == HeadNorm::BatchPlain) {
            BatchNormOptions options(layer.out);
            options.affine = layer.norm == HeadNorm::Batch;
            m_layers->push_back(BatchNorm(options));
        }
        if (layer.activation == Activation::Relu) m_layers->push_back(torch::nn::ReLU());
        if (layer.activation == Activation::Gelu) m_layers->push_back(torch::nn::GELU());
    }
    register_module("layers", m_layers);
}

Head simclrProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int layers, bool batchNorm)
{
    checkLayers(layers);
    const HeadNorm norm = batchIf(batchNorm);
    return finish(hiddenLayers(layers - 1, {in, hidden, norm}), out, norm);
}

Head mocoProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int layers, bool batchNorm)
{
    return simclrProjectionHead(in, hidden, out, layers, batchNorm);
}

Head nnclrProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out)
{
    return simclrProjectionHead(in, hidden, out, 3);
}

Head twoLayerHead(std::int64_t in, std::int64_t hidden, std::int64_t out)
{
    return vicregProjectionHead(in, hidden, out, 2);
}

Head vicregProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int layers)
{
    checkLayers(layers);
    return finish(hiddenLayers(layers - 1, {in, hidden}), out, HeadNorm::None);
}

Head vicreglLocalProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out)
{
    return finish(hiddenLayers(2, {in, hidden, HeadNorm::Layer}), out, HeadNorm::None);
}

Head simsiamProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out)
{
    return finish(hiddenLayers(2, {in, hidden}), out, HeadNorm::BatchPlain);
}

Head smogProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out)
{
    return finish(hiddenLayers(1, {in, hidden}), out, HeadNorm::BatchPlain);
}

Head msnProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out)
{
    return finish(hiddenLayers(2, {in, hidden, HeadNorm::Batch, Activation::Gelu}), out, HeadNorm::None);
}

Head mmcrProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int hiddenCount, bool batchNorm, bool bias)
{
    checkLayers(hiddenCount + 1);
    const HeadLayer first{in, hidden, batchIf(batchNorm), Activation::Relu, bias};
    return finish(hiddenLayers(hiddenCount, first), out, HeadNorm::None, bias);
}

} // namespace parallax::nn
