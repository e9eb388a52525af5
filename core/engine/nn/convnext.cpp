// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/convnext.h"

#include "core/engine/nn/droppath.h"

#include <cmath>
#include <numeric>

namespace parallax::nn {

namespace {

constexpr double layerNormEps = 1e-6;
constexpr double layerScaleStart = 1e-6;
constexpr std::int64_t expansion = 4; ///< of a block's perceptron

/// Layer norm over the channels of [n, C, h, w], at every place.
class ChannelNormImpl : public torch::nn::Module
{
public:
    explicit ChannelNormImpl(std::int64_t channels) : m_channels(channels)
    {
        m_weight = register_parameter("weight", torch::ones({channels}));
        m_bias = register_parameter("bias", torch::zeros({channels}));
    }
    torch::Tensor forward(const torch::Tensor &x)
    {
        return torch::layer_norm(x.permute({0, 2, 3, 1}), {m_channels}, m_weight, m_bias, layerNormEps)
            .permute({0, 3, 1, 2});
    }

private:
    std::int64_t m_channels;
    torch::Tensor m_weight, m_bias;
};
TORCH_MODULE(ChannelNorm);

torch::nn::Conv2d patches(std::int64_t in, std::int64_t out, int side)
{
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, side).stride(side));
}

/// Depthwise 7×7 convolution, layer norm and a perceptron over the channels, scaled and added to the input.
class ConvNextBlockImpl : public torch::nn::Module
{
public:
    /// `depth`: the network's own, this block its branch `branch`.
    ConvNextBlockImpl(std::int64_t channels, DropPath depth, std::size_t branch)
        : m_depth(std::move(depth)), m_branch(branch)
    {
        m_scale = register_parameter("layer_scale", torch::full({channels, 1, 1}, layerScaleStart));
        // 1, 4 and 6 move the channels and activate: they hold nothing.
        const auto block = register_module("block", std::make_shared<torch::nn::Module>());
        m_depthwise = block->register_module(
            "0", torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, channels, 7).padding(3).groups(channels)));
        m_norm =
            block->register_module("2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({channels}).eps(layerNormEps)));
        m_widen = block->register_module("3", torch::nn::Linear(channels, expansion * channels));
        m_narrow = block->register_module("5", torch::nn::Linear(expansion * channels, channels));
    }

    torch::Tensor forward(const torch::Tensor &x)
    {
        const torch::Tensor mixed = m_norm->forward(m_depthwise->forward(x).permute({0, 2, 3, 1}));
        const torch::Tensor out = m_narrow->forward(torch::gelu(m_widen->forward(mixed))).permute({0, 3, 1, 2});
        return x + m_depth->forward(m_scale * out, m_branch);
    }

private:
    DropPath m_depth;
    std::size_t m_branch;
    torch::Tensor m_scale;
    torch::nn::Conv2d m_depthwise = nullptr;
    torch::nn::LayerNorm m_norm = nullptr;
    torch::nn::Linear m_widen = nullptr, m_narrow = nullptr;
};
TORCH_MODULE(ConvNextBlock);

class ConvNextImpl final : public BackboneImpl
{
public:
    explicit ConvNextImpl(const ConvNextOptions &options)
    {
        const auto &channels = options.channels;
        const std::int64_t count = std::accumulate(options.blocks.begin(), options.blocks.end(), std::int64_t(0));
        m_depth = register_module("drop_path", DropPath(dropPathRates(options.dropPath, count)));
        std::size_t index = 0;
        addStage(torch::nn::Sequential(patches(3, channels[0], 4), ChannelNorm(channels[0])));
        for (std::size_t i = 0; i < channels.size(); ++i) {
            if (i > 0)
                addStage(torch::nn::Sequential(ChannelNorm(channels[i - 1]), patches(channels[i - 1], channels[i], 2)));
            torch::nn::Sequential stage;
            for (std::int64_t k = 0; k < options.blocks[i]; ++k, ++index)
                stage->push_back(ConvNextBlock(channels[i], m_depth, index));
            addStage(stage);
        }
        m_norm = register_module("classifier", std::make_shared<torch::nn::Module>())
                     ->register_module("0", ChannelNorm(channels.back()));
        features = channels.back();
        initialise();
    }

    std::vector<std::string> classifier() const override { return {"classifier.2."}; }

protected:
    torch::Tensor compute(const torch::Tensor &images) override
    {
        torch::Tensor x = images;
        m_depth->draw(images);
        for (auto &stage : m_stages) x = stage->forward(x);
        return m_norm->forward(torch::adaptive_avg_pool2d(x, {1, 1})).flatten(1);
    }

private:
    void addStage(const torch::nn::Sequential &stage)
    {
        m_stages.push_back(m_features->register_module(std::to_string(m_stages.size()), stage));
    }

    /// Weights from a normal distribution of deviation 0.02, cut at ±2: nothing of it lies there. Biases at zero.
    void initialise()
    {
        torch::NoGradGuard noGrad;
        apply([](torch::nn::Module &part) {
            const auto start = [](torch::Tensor weight, torch::Tensor bias) {
                weight.normal_(0, 0.02);
                bias.zero_();
            };
            if (auto *conv = dynamic_cast<torch::nn::Conv2dImpl *>(&part)) start(conv->weight, conv->bias);
            if (auto *linear = dynamic_cast<torch::nn::LinearImpl *>(&part)) start(linear->weight, linear->bias);
        });
    }

    std::shared_ptr<torch::nn::Module> m_features = register_module("features", std::make_shared<torch::nn::Module>());
    DropPath m_depth = nullptr;
    std::vector<torch::nn::Sequential> m_stages;
    ChannelNorm m_norm = nullptr;
};

} // namespace

Backbone makeConvNext(const ConvNextOptions &options) { return std::make_shared<ConvNextImpl>(options); }

} // namespace parallax::nn
