// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/tensors.h"
#include "core/engine/methods/parts.h"
#include "core/engine/methods/vitmethod.h"
#include "core/engine/nn/maedecoder.h"

namespace parallax::methods {

namespace {

struct MaeConfig {
    double maskRatio = 0.75;
    std::int64_t decoderDim = 512, decoderLayers = 1, decoderHeads = 16;
    bool normPixels = false;
    static void describe(config::Group<MaeConfig> &group)
    {
        group.field("mask_ratio", &MaeConfig::maskRatio)
            .label("Masked share")
            .range(0.05, 0.95)
            .help("Share of the patches that are hidden and must be filled in.");
        group.field("norm_pixels", &MaeConfig::normPixels)
            .label("Normalise patches")
            .help("Each patch is filled in relative to its own mean and deviation: better features, duller pictures.");
        group.field("decoder_dim", &MaeConfig::decoderDim)
            .label("Decoder width")
            .range(8, 8192)
            .advanced()
            .help("Width of the decoder, which is thrown away after training.");
        group.field("decoder_layers", &MaeConfig::decoderLayers)
            .label("Decoder layers")
            .range(1, 48)
            .advanced()
            .help("Blocks of the decoder.");
        group.field("decoder_heads", &MaeConfig::decoderHeads)
            .label("Decoder heads")
            .range(1, 64)
            .advanced()
            .help("Attention heads of the decoder; they divide its width.");
    }
};

class Mae final : public BackboneMethod
{
public:
    Mae(const MaeConfig &config, const BackboneFactory &make)
        : BackboneMethod(make), m_config(config), m_vit(visionTransformer(m_backbone, "MAE"))
    {
        nn::MaeDecoderOptions options;
        options.in = width();
        options.dim = config.decoderDim;
        options.layers = config.decoderLayers;
        options.heads = config.decoderHeads;
        options.patchSize = m_vit.options().patchSize;
        options.imageSize = m_vit.options().imageSize;
        m_decoder = register_module("decoder", nn::MaeDecoder(options));
    }

    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const override { return {{augment}}; }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor &images = views.at(0);
        const PatchChoice choice = randomPatches(m_vit, images, 1 - m_config.maskRatio, *context.all);
        const torch::Tensor encoded = m_vit.tokens(images, choice.kept);
        const torch::Tensor predicted = m_decoder->forward(encoded, choice.kept, choice.masked);
        torch::Tensor target = losses::widened(nn::patchesOf(images, m_vit.options().patchSize));
        if (m_config.normPixels)
            target = (target - target.mean(2, true)) / (target.var(2, /*unbiased=*/true, true) + 1e-6).sqrt();
        const torch::Tensor index = choice.masked.unsqueeze(2).expand({-1, -1, target.size(2)});
        const torch::Tensor error = (losses::widened(predicted) - target.gather(1, index)).square().mean(2).mean(1); // [n]
        const torch::Tensor token = encoded.select(1, 0);
        return {losses::rankMean(error, *context.ranks), spread(token, token), 0};
    }

private:
    MaeConfig m_config;
    nn::VitImpl &m_vit; ///< the backbone
    nn::MaeDecoder m_decoder = nullptr;
};

const Registry::Entry entry(described<Mae, MaeConfig>(
    {.name = "mae",
     .label = "MAE",
     .paper = "He et al. 2022, arXiv:2111.06377",
     .use = "Fills in hidden patches: fast on large transformers, and best after fine-tuning. kNN accuracy says little.",
     .masksPatches = true,
     .gatherAdvice = "No effect: an image is compared with itself alone.",
     .syncBnAdvice = "No effect: neither the transformer nor the decoder has batch norm."}));

} // namespace

} // namespace parallax::methods
