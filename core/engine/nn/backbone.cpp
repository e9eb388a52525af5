// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/backbone.h"

#include "core/engine/nn/resnet.h"

#include <stdexcept>

namespace parallax::nn {

const std::vector<BackboneInfo> &backbones()
{
    static const std::vector<BackboneInfo> table{
        {"resnet18", "ResNet-18",
         [](const BackboneConfig &config) {
             return makeResNet({2, 2, 2, 2}, false, config);
         }},
        {"resnet34", "ResNet-34",
         [](const BackboneConfig &config) {
             return makeResNet({3, 4, 6, 3}, false, config);
         }},
        {"resnet50", "ResNet-50",
         [](const BackboneConfig &config) {
             return makeResNet({3, 4, 6, 3}, true, config);
         }},
    };
    return table;
}

void BackboneConfig::describe(config::Group<BackboneConfig> &group)
{
    auto name = group.field("name", &BackboneConfig::name).label("Network").help("The network whose features are learned.");
    for (const auto &backbone : backbones()) name.choice(backbone.name, backbone.label);
    group.field("stem", &BackboneConfig::stem)
        .label("Stem")
        .choice("imagenet", "ImageNet", "7×7 convolution, stride 2, max-pool: for images of 96 px and more")
        .choice("cifar", "CIFAR", "3×3 convolution, stride 1, no max-pool: for small images")
        .help("The first layers.");
    group.field("width", &BackboneConfig::width)
        .label("Width")
        .unit("×")
        .range(0.0625, 4)
        .advanced()
        .help("Factor on the number of channels of every layer.");
    group.field("zero_init_residual", &BackboneConfig::zeroInitResidual)
        .label("Blocks start as identity")
        .advanced()
        .help("The last batch norm of every residual block starts at zero (Goyal et al. 2017), so that the block at first "
              "hands "
              "on its input.");
}

Backbone makeBackbone(const BackboneConfig &config)
{
    for (const auto &backbone : backbones())
        if (backbone.name == config.name) return backbone.make(config);
    throw std::runtime_error("There is no backbone named " + config.name);
}

} // namespace parallax::nn
