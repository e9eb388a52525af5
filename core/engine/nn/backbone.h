// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace parallax::nn {

struct BackboneConfig {
    std::string name = "resnet18";
    std::string stem = "imagenet";
    double width = 1;
    bool zeroInitResidual = false;
    static void describe(config::Group<BackboneConfig> &group);
};

/// A feature extractor: images [n, 3, s, s] → [n, features].
class BackboneImpl : public torch::nn::Module
{
public:
    virtual torch::Tensor forward(const torch::Tensor &images) = 0;
    std::int64_t features = 0;
};
using Backbone = std::shared_ptr<BackboneImpl>;

/// A network that can be chosen. The table in backbone.cpp is the one place that names them all.
struct BackboneInfo {
    std::string name, label;
    std::function<Backbone(const BackboneConfig &)> make;
};
const std::vector<BackboneInfo> &backbones();

/// torchvision's names in the state dict. Weights depend on torch's current seed alone.
/// Every batch norm is a nn::BatchNorm: enableSyncBatchNorm(module, ranks) makes its statistics global.
/// Throws std::runtime_error for a name that is not in the table.
Backbone makeBackbone(const BackboneConfig &config);

} // namespace parallax::nn
