// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"

#include <torch/torch.h>

#include <memory>
#include <string>

namespace parallax::nn {

struct BackboneConfig {
    std::string name = "resnet18";
    std::string stem = "imagenet";
    double width = 1;
    static void describe(config::Group<BackboneConfig> &group)
    {
        group.field("name", &BackboneConfig::name).label("Network")
            .choice("resnet18", "ResNet-18").choice("resnet34", "ResNet-34").choice("resnet50", "ResNet-50")
            .help("The network whose features are learned.");
        group.field("stem", &BackboneConfig::stem).label("Stem")
            .choice("imagenet", "ImageNet", "7×7 convolution, stride 2, max-pool: for images of 96 px and more")
            .choice("cifar", "CIFAR", "3×3 convolution, stride 1, no max-pool: for small images")
            .help("The first layers.");
        group.field("width", &BackboneConfig::width).label("Width").unit("×").range(0.0625, 4).advanced()
            .help("Factor on the number of channels of every layer.");
    }
};

/// A feature extractor: images [n, 3, s, s] → [n, features].
class BackboneImpl : public torch::nn::Module
{
public:
    virtual torch::Tensor forward(const torch::Tensor &images) = 0;
    std::int64_t features = 0;
};
using Backbone = std::shared_ptr<BackboneImpl>;

/// torchvision's names in the state dict. Weights depend on torch's current seed alone.
/// Every batch norm is a nn::BatchNorm: enableSyncBatchNorm(module, ranks) makes its statistics global.
Backbone makeBackbone(const BackboneConfig &config);

} // namespace parallax::nn
