// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/resnet.h"

#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/droppath.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace parallax::nn {

namespace {

torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, int kernel, int stride)
{
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

/// A residual block: a chain of convolutions with batch norm, added to its input (or to a projection of it).
class BlockImpl : public torch::nn::Module
{
public:
    static constexpr int bottleneckExpansion = 4;

    /// `depth`: the network's own, this block its branch `branch`.
    BlockImpl(std::int64_t in, std::int64_t planes, int stride, const ResNetOptions &options, DropPath depth,
              std::size_t branch)
        : m_depth(std::move(depth)), m_branch(branch)
    {
        const std::int64_t out = options.bottleneck ? planes * bottleneckExpansion : planes;
        if (options.bottleneck) {
            const std::int64_t inner = std::max<std::int64_t>(1, std::llround(double(planes) * options.inner));
            add(in, inner, 1, 1);
            add(inner, inner, 3, stride);
            add(inner, out, 1, 1);
        } else {
            add(in, planes, 3, stride);
            add(planes, planes, 3, 1);
        }
        if (stride != 1 || in != out) {
            m_projection = convolution(in, out, 1, stride);
            m_projectionNorm = BatchNorm(out);
            torch::nn::Sequential downsample;
            downsample->push_back(m_projection);
            downsample->push_back(m_projectionNorm);
            register_module(options.projection, downsample);
        }
    }

    torch::Tensor forward(const torch::Tensor &input)
    {
        torch::Tensor x = input;
        for (std::size_t i = 0; i < m_convolutions.size(); ++i) {
            x = m_norms[i]->forward(m_convolutions[i]->forward(x));
            if (i + 1 < m_convolutions.size()) x = torch::relu(x);
        }
        x = m_depth->forward(x, m_branch);
        return torch::relu(x + (m_projection ? m_projectionNorm->forward(m_projection->forward(input)) : input));
    }

    BatchNorm lastNorm() const { return m_norms.back(); }

private:
    void add(std::int64_t in, std::int64_t out, int kernel, int stride)
    {
        const std::string number = std::to_string(m_convolutions.size() + 1);
        m_convolutions.push_back(register_module("conv" + number, convolution(in, out, kernel, stride)));
        m_norms.push_back(register_module("bn" + number, BatchNorm(out)));
    }

    DropPath m_depth;
    std::size_t m_branch;
    std::vector<torch::nn::Conv2d> m_convolutions;
    std::vector<BatchNorm> m_norms;
    torch::nn::Conv2d m_projection = nullptr;
    BatchNorm m_projectionNorm = nullptr;
};
TORCH_MODULE(Block);

class ResNetImpl final : public BackboneImpl
{
public:
    explicit ResNetImpl(const ResNetOptions &options) : m_options(options)
    {
        m_conv1 = register_module(
            "conv1", options.imagenetStem ? convolution(3, options.base, 7, 2) : convolution(3, options.base, 3, 1));
        m_bn1 = register_module("bn1", BatchNorm(options.base));
        const int count = std::accumulate(options.blocks.begin(), options.blocks.end(), 0);
        m_depth = register_module("drop_path", DropPath(dropPathRates(options.dropPath, count)));
        std::int64_t in = options.base;
        for (std::size_t i = 0; i < options.blocks.size(); ++i) {
            const std::int64_t planes = options.base << i;
            torch::nn::Sequential layer;
            for (int k = 0; k < options.blocks[i]; ++k) {
                Block block(in, planes, k == 0 && i > 0 ? 2 : 1, options, m_depth, m_blocks.size());
                layer->push_back(block);
                m_blocks.push_back(block);
                in = options.bottleneck ? planes * BlockImpl::bottleneckExpansion : planes;
            }
            register_module("layer" + std::to_string(i + 1), layer);
        }
        features = in;
        initialise();
    }

    std::vector<std::string> classifier() const override { return {"fc.", "linear."}; }

protected:
    torch::Tensor compute(const torch::Tensor &images) override
    {
        torch::Tensor x = m_bn1->forward(m_conv1->forward(images));
        if (m_options.stemRelu) x = torch::relu(x);
        if (m_options.imagenetStem) x = torch::max_pool2d(x, 3, 2, 1);
        m_depth->draw(images);
        for (auto &block : m_blocks) x = block->forward(x);
        x = m_options.pool > 0 ? torch::avg_pool2d(x, m_options.pool) : torch::adaptive_avg_pool2d(x, {1, 1});
        return x.flatten(1);
    }

private:
    /// He et al. 2015 (arXiv:1502.01852) by the outputs, so that the gradient keeps its size on its way back.
    void initialise()
    {
        if (m_options.heInit)
            apply([](torch::nn::Module &part) {
                if (auto *conv = dynamic_cast<torch::nn::Conv2dImpl *>(&part))
                    torch::nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
            });
        if (!m_options.zeroInitResidual) return;
        for (auto &block : m_blocks) torch::nn::init::zeros_(block->lastNorm()->weight);
    }

    ResNetOptions m_options;
    torch::nn::Conv2d m_conv1 = nullptr;
    BatchNorm m_bn1 = nullptr;
    DropPath m_depth = nullptr;
    std::vector<Block> m_blocks;
};

} // namespace

Backbone makeResNet(const ResNetOptions &options) { return std::make_shared<ResNetImpl>(options); }

Backbone makeResNet(const std::array<int, 4> &blocks, bool bottleneck, double inner, const BackboneConfig &config)
{
    return makeResNet({.blocks = blocks,
                       .bottleneck = bottleneck,
                       .base = std::max<std::int64_t>(1, std::llround(64 * config.width)),
                       .inner = inner,
                       .imagenetStem = config.stem == "imagenet",
                       .stemRelu = config.stem != "cifar_linear",
                       .heInit = config.init == "he",
                       .zeroInitResidual = config.zeroInitResidual,
                       .dropPath = config.dropPath});
}

} // namespace parallax::nn
