// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"
#include "core/engine/nn/precision.h"
#include "core/engine/nn/weights.h"

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
    std::string init = "he";
    bool zeroInitResidual = false;
    std::int64_t patchSize = 16;
    std::int64_t imageSize = 0;
    double dropPath = 0;
    static void describe(config::Group<BackboneConfig> &group);
};

/// A feature extractor: images [n, 3, s, s] → [n, features].
class BackboneImpl : public torch::nn::Module
{
public:
    torch::Tensor forward(const torch::Tensor &images)
    {
        return inPrecision(images, [&] { return compute(images); });
    }
    /// How the names of the classifier start that torchvision's network has behind these features, such as "fc."; those of
    /// its linear layer first.
    virtual std::vector<std::string> classifier() const { return {}; }
    /// A tensor of a weights file as this network takes it: unchanged unless it was made for another image size.
    virtual torch::Tensor adapt(const std::string &name, const torch::Tensor &read) const
    {
        (void)name;
        return read;
    }
    std::int64_t features = 0;

protected:
    virtual torch::Tensor compute(const torch::Tensor &images) = 0;
};
using Backbone = std::shared_ptr<BackboneImpl>;

/// A network that can be chosen. The table in backbone.cpp is the one place that names them all.
struct BackboneInfo {
    enum class Family { ResNet, Vit, ConvNext };
    std::string name, label;
    Family family;
    std::function<Backbone(const BackboneConfig &)> make;
};
const std::vector<BackboneInfo> &backbones();
const BackboneInfo *findBackbone(const std::string &name); ///< null: there is none

/// Whether the network takes square images of `size` pixels; `key` is the setting that the size comes from, and the Error's
/// `where`. The hint says which sizes it takes.
Status checkImageSize(const BackboneConfig &config, std::int64_t size, const std::string &key);

/// torchvision's names in the state dict. Weights depend on torch's current seed alone and start as torchvision's do, unless
/// `init` says otherwise.
/// Every batch norm is a nn::BatchNorm: enableSyncBatchNorm(module, ranks) makes its statistics global.
/// Throws std::runtime_error for a name that is not in the table.
Backbone makeBackbone(const BackboneConfig &config);

/// Fills a backbone from a file of torchvision's or of `parallax export`. A classifier in it is left out; positional embeddings
/// for another image size are interpolated; the report says so. Else as loadState: on an Error nothing has changed.
Result<LoadReport> loadBackbone(torch::nn::Module &backbone, const runs::SafetensorsFile &file);

} // namespace parallax::nn
