// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/backbone.h"

#include "core/engine/nn/convnext.h"
#include "core/engine/nn/resnet.h"
#include "core/engine/nn/vit.h"

#include <algorithm>
#include <stdexcept>

namespace parallax::nn {

namespace {

using Family = BackboneInfo::Family;

constexpr std::int64_t convnextLeast = 32;     ///< patches of 4 px, halved three times, leave one place
constexpr std::int64_t defaultImageSize = 224; ///< where neither the settings nor the views give one

BackboneInfo resnet(const char *name, const char *label, const std::array<int, 4> &blocks, bool bottleneck, double inner = 1)
{
    return {name, label, Family::ResNet,
            [=](const BackboneConfig &config) { return makeResNet(blocks, bottleneck, inner, config); }};
}

BackboneInfo vit(const char *name, const char *label, std::int64_t dim, std::int64_t heads)
{
    return {name, label, Family::Vit, [=](const BackboneConfig &config) -> Backbone {
                VitOptions options;
                options.imageSize = config.imageSize > 0 ? config.imageSize : defaultImageSize;
                options.patchSize = config.patchSize;
                options.heads = heads;
                options.dim = dim;
                options.mlpDim = 4 * dim;
                options.dropPath = config.dropPath;
                return std::make_shared<VitImpl>(options);
            }};
}

BackboneInfo convnext(const char *name, const char *label, std::int64_t deep, std::int64_t base)
{
    return {name, label, Family::ConvNext, [=](const BackboneConfig &config) {
                return makeConvNext({{3, 3, deep, 3}, {base, 2 * base, 4 * base, 8 * base}, config.dropPath});
            }};
}

config::Condition only(const std::vector<Family> &families)
{
    std::vector<std::string> names;
    for (const auto &backbone : backbones())
        if (std::ranges::find(families, backbone.family) != families.end()) names.push_back(backbone.name);
    return {"backbone.name", std::move(names)};
}

void describeResNet(config::Group<BackboneConfig> &group)
{
    group.field("stem", &BackboneConfig::stem)
        .label("Stem")
        .when(only({Family::ResNet}))
        .choice("imagenet", "ImageNet", "7×7 convolution, stride 2, max-pool: for images of 96 px and more")
        .choice("cifar", "CIFAR", "3×3 convolution, stride 1, no max-pool: for small images")
        .choice("cifar_linear", "CIFAR without ReLU",
                "the same without the ReLU behind it, as in the published CIFAR-10 benchmark of lightly")
        .help("The first layers.");
    group.field("width", &BackboneConfig::width)
        .label("Width")
        .unit("×")
        .when(only({Family::ResNet}))
        .range(0.0625, 4)
        .advanced()
        .help("Factor on the number of channels of every layer.");
    group.field("init", &BackboneConfig::init)
        .label("First weights")
        .when(only({Family::ResNet}))
        .choice("he", "He, by outputs", "normal, of variance 2 / (9 · outputs) for 3×3: as torchvision's networks start")
        .choice(
            "uniform", "Uniform, by inputs",
            "of variance 1 / (27 · inputs) for 3×3, as PyTorch makes convolutions: what the published CIFAR-10 benchmark "
            "of lightly starts from")
        .advanced()
        .help("How the weights of convolutions are drawn. Behind batch norm their size does not change what the network "
              "computes, but smaller ones turn faster at the same learning rate.");
    group.field("zero_init_residual", &BackboneConfig::zeroInitResidual)
        .label("Blocks start as identity")
        .when(only({Family::ResNet}))
        .advanced()
        .help("The last batch norm of every residual block starts at zero (Goyal et al. 2017), so that the block at first "
              "hands on its input.");
}

} // namespace

const std::vector<BackboneInfo> &backbones()
{
    static const std::vector<BackboneInfo> table{
        resnet("resnet9", "ResNet-9", {1, 1, 1, 1}, false),
        resnet("resnet18", "ResNet-18", {2, 2, 2, 2}, false),
        resnet("resnet34", "ResNet-34", {3, 4, 6, 3}, false),
        resnet("resnet50", "ResNet-50", {3, 4, 6, 3}, true),
        resnet("resnet101", "ResNet-101", {3, 4, 23, 3}, true),
        resnet("wide_resnet50_2", "Wide ResNet-50", {3, 4, 6, 3}, true, 2),
        resnet("wide_resnet101_2", "Wide ResNet-101", {3, 4, 23, 3}, true, 2),
        vit("vit_tiny", "ViT-Ti", 192, 3),
        vit("vit_small", "ViT-S", 384, 6),
        vit("vit_base", "ViT-B", 768, 12),
        convnext("convnext_tiny", "ConvNeXt-T", 9, 96),
        convnext("convnext_small", "ConvNeXt-S", 27, 96),
        convnext("convnext_base", "ConvNeXt-B", 27, 128),
    };
    return table;
}

void BackboneConfig::describe(config::Group<BackboneConfig> &group)
{
    auto name = group.field("name", &BackboneConfig::name).label("Network").help("The network whose features are learned.");
    for (const auto &backbone : backbones()) name.choice(backbone.name, backbone.label);
    describeResNet(group);
    group.field("patch_size", &BackboneConfig::patchSize)
        .label("Patch size")
        .unit("px")
        .when(only({Family::Vit}))
        .range(1, 128)
        .help("Side of the squares that an image is cut into; the view size must be a multiple of it. Half of it is four "
              "times "
              "the work.");
    group.field("image_size", &BackboneConfig::imageSize)
        .label("Image size")
        .unit("px")
        .when(only({Family::Vit}))
        .range(0, 4096)
        .advanced()
        .help("The size that positions are learned for; views of other sizes get interpolated ones. 0: the view size.");
    group.field("drop_path", &BackboneConfig::dropPath)
        .label("Stochastic depth")
        .range(0, 0.9)
        .advanced()
        .help(
            "Probability that an image skips the last block in training; it rises evenly from 0 at the first one (Huang et "
            "al. 2016).");
}

const BackboneInfo *findBackbone(const std::string &name)
{
    const auto found = std::ranges::find(backbones(), name, &BackboneInfo::name);
    return found == backbones().end() ? nullptr : &*found;
}

Status checkImageSize(const BackboneConfig &config, std::int64_t size, const std::string &key)
{
    const BackboneInfo *network = findBackbone(config.name);
    const std::string pixels = std::to_string(size) + " px";
    if (!network) return {}; // makeBackbone says so
    if (network->family == Family::ConvNext && size < convnextLeast)
        return Error{"images of " + pixels + " are too small for " + network->label + ", which halves them five times", key,
                     "Set " + key + " to at least " + std::to_string(convnextLeast) +
                         ", or backbone.name to a ResNet with backbone.stem=cifar"};
    const std::int64_t patch = config.patchSize;
    if (network->family != Family::Vit || (size >= patch && size % patch == 0)) return {};
    const std::int64_t below = size / patch * patch;
    std::int64_t divisor = std::min(patch, size);
    while (size % divisor != 0) --divisor;
    return Error{"images of " + pixels + " cannot be cut into patches of " + std::to_string(patch) + " px", key,
                 "Set " + key + " to " + (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + patch) +
                     (divisor > 1 ? ", or backbone.patch_size to " + std::to_string(divisor) : "")};
}

Backbone makeBackbone(const BackboneConfig &config)
{
    if (const BackboneInfo *backbone = findBackbone(config.name)) return backbone->make(config);
    throw std::runtime_error("There is no backbone named " + config.name);
}

Result<LoadReport> loadBackbone(torch::nn::Module &module, const runs::SafetensorsFile &file)
{
    const auto *backbone = dynamic_cast<const BackboneImpl *>(&module);
    if (!backbone) return loadState(module, file);
    LoadOptions options;
    options.leftOut = backbone->classifier();
    options.adapt = [backbone](const std::string &name, const torch::Tensor &read) { return backbone->adapt(name, read); };
    return loadState(module, file, {}, options);
}

} // namespace parallax::nn
