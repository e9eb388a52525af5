// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/msn.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"
#include "core/engine/methods/vitmethod.h"

#include <cmath>

namespace parallax::methods {

namespace {

struct MsnConfig : MultiCrop {
    std::int64_t prototypes = 1024;
    double temperature = 0.1, sharpening = 0.25, maskRatio = 0.15, regularisation = 1;
    double momentum = 0.996, momentumEnd = 1;
    std::int64_t hiddenDim = 2048, projectionDim = 256;
    static void describe(config::Group<MsnConfig> &group)
    {
        group.field("prototypes", &MsnConfig::prototypes)
            .label("Prototypes")
            .range(2, 1 << 20)
            .help("Clusters that images are assigned to.");
        group.field("mask_ratio", &MsnConfig::maskRatio)
            .label("Masked share")
            .range(0, 0.95)
            .help("Share of the patches that the student does not see.");
        fields::temperature(group, &MsnConfig::temperature)
            .range(0.001, 10)
            .advanced()
            .help("Small values make predictions sharp.");
        group.field("sharpening", &MsnConfig::sharpening)
            .label("Target sharpening")
            .range(0.01, 1)
            .advanced()
            .help("Targets are sharper than predictions by this factor on the temperature.");
        group.field("regularisation", &MsnConfig::regularisation)
            .label("Entropy weight")
            .atLeast(0)
            .advanced()
            .help("Weight of what keeps all prototypes in use.");
        fields::momentum(group, &MsnConfig::momentum, &MsnConfig::momentumEnd);
        describeCrops(group);
        fields::hiddenDim(group, &MsnConfig::hiddenDim);
        fields::projectionDim(group, &MsnConfig::projectionDim)
            .help("Width of the vectors that are compared with the prototypes.");
    }
};

/// The first view is the target; the second one, masked, and the small ones are anchors.
class Msn final : public MomentumMethod
{
public:
    Msn(const MsnConfig &config, const BackboneFactory &make)
        : MomentumMethod(make), m_config(config), m_vit(visionTransformer(m_backbone, "MSN"))
    {
        const auto head = [&] { return nn::msnProjectionHead(width(), config.hiddenDim, config.projectionDim); };
        setHeads(head(), head());
        const double limit = 1 / std::sqrt(double(config.projectionDim));
        m_prototypes = register_parameter("prototypes",
                                          torch::empty({config.prototypes, config.projectionDim}).uniform_(-limit, limit));
    }

    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const override { return m_config.views(augment); }

    void beforeStep(const Context &context) override
    {
        moveAverage(momentumAt(m_config.momentum, m_config.momentumEnd, context));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor target = projectByAverage(views.at(0));
        const torch::Tensor kept = randomPatches(m_vit, views.at(1), 1 - m_config.maskRatio, *context.all).kept;
        std::vector<torch::Tensor> anchors{m_head->forward(m_vit.tokens(views.at(1), kept).select(1, 0))};
        for (std::size_t v = 2; v < views.size(); ++v) anchors.push_back(project(views[v]));
        losses::MsnOptions options;
        options.temperature = m_config.temperature;
        options.sharpening = m_config.sharpening;
        options.regularisation = m_config.regularisation;
        const torch::Tensor loss = losses::msn(torch::cat(anchors), target, m_prototypes, options, *context.ranks);
        return {loss, spread(anchors[0], target), target.size(1)};
    }

    double chanceLoss(std::int64_t) const override { return std::log(double(m_config.prototypes)); }

private:
    MsnConfig m_config;
    nn::VitImpl &m_vit; ///< the backbone
    torch::Tensor m_prototypes;
};

const Registry::Entry entry(described<Msn, MsnConfig>(
    {.name = "msn",
     .label = "MSN",
     .paper = "Assran et al. 2022, arXiv:2204.07141",
     .use = "A transformer that sees a part of the patches assigns the image to the same cluster: good with few labels.",
     .usesGather = true,
     .masksPatches = true,
     .gatherAdvice = "Needed: the prototypes are to be used evenly over the whole batch. A rank's share has too few "
                     "images for that.",
     .syncBnAdvice = "For the head alone: transformers have no batch norm."}));

} // namespace

} // namespace parallax::methods
