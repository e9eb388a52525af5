// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/schema.h"
#include "core/engine/methods/method.h"
#include "core/engine/methods/tiny.h"
#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/vit.h"

#include <torch/torch.h>

#include <memory>
#include <string>

/// Every method of the registry on networks small enough for thousands of steps.
namespace smallmethod {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kSize = 12; ///< of the views, in pixels

/// A convolution, batch norm and ReLU, averaged over the image: [n, 3, s, s] → [n, 6].
class Convolution final : public parallax::nn::BackboneImpl
{
public:
    Convolution()
    {
        features = 6;
        m_conv = register_module(
            "conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, features, 3).stride(2).padding(1).bias(false)));
        m_norm = register_module("norm", parallax::nn::BatchNorm(features));
    }

protected:
    torch::Tensor compute(const torch::Tensor &images) override
    {
        return torch::relu(m_norm->forward(m_conv->forward(images))).mean({2, 3});
    }

private:
    torch::nn::Conv2d m_conv = nullptr;
    parallax::nn::BatchNorm m_norm = nullptr;
};

inline parallax::nn::Backbone makeBackbone(const std::string &method)
{
    if (!parallax::methods::Registry::find(method)->masksPatches) return std::make_shared<Convolution>();
    return std::make_shared<parallax::nn::VitImpl>(
        parallax::nn::VitOptions{.imageSize = kSize, .patchSize = 4, .layers = 2, .heads = 2, .dim = 8, .mlpDim = 16});
}

inline std::shared_ptr<parallax::methods::Method> make(const parallax::methods::MethodInfo &info, std::uint64_t seed = 1)
{
    torch::manual_seed(seed);
    return info.make(parallax::methods::tinyOptions(info), [&info] { return makeBackbone(info.name); });
}

/// Views of `n` images as the method wants them, drawn from torch's generator: noise around a pattern of the image.
inline std::vector<torch::Tensor> drawViews(const parallax::methods::Method &method, std::int64_t n, torch::Dtype dtype)
{
    parallax::data::AugmentConfig augment;
    augment.size = kSize;
    const torch::Tensor images = torch::randn({n, 3, kSize, kSize}, torch::kFloat64);
    std::vector<torch::Tensor> views;
    for (const auto &spec : method.views(augment)) {
        const std::int64_t size = spec.augment.size;
        const torch::Tensor view = images.narrow(2, 0, size).narrow(3, 0, size);
        views.push_back((view + 0.3 * torch::randn(view.sizes(), torch::kFloat64)).to(dtype));
    }
    return views;
}

} // namespace smallmethod
