// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/vicreg.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

namespace parallax::methods {

namespace {

struct VicRegConfig {
    double invariance = 25, variance = 25, covariance = 1;
    std::int64_t hiddenDim = 2048, projectionDim = 2048, layers = 3;
    static void describe(config::Group<VicRegConfig> &group)
    {
        group.field("invariance", &VicRegConfig::invariance)
            .label("Invariance")
            .atLeast(0)
            .help("Weight of the distance between the views of an image.");
        group.field("variance", &VicRegConfig::variance)
            .label("Variance")
            .atLeast(0)
            .help("Weight of what keeps every dimension spread: without it all collapses.");
        group.field("covariance", &VicRegConfig::covariance)
            .label("Covariance")
            .atLeast(0)
            .help("Weight of what makes dimensions independent.");
        fields::hiddenDim(group, &VicRegConfig::hiddenDim);
        fields::projectionDim(group, &VicRegConfig::projectionDim)
            .help("Width of the vectors that the loss sees. Wide is good.");
        group.field("layers", &VicRegConfig::layers)
            .label("Head layers")
            .range(2, 8)
            .advanced()
            .help("Linear layers of the projection head.");
    }
};

class VicReg final : public ProjectingMethod
{
public:
    VicReg(const VicRegConfig &config, const BackboneFactory &make) : ProjectingMethod(make)
    {
        m_options.invariance = config.invariance;
        m_options.variance = config.variance;
        m_options.covariance = config.covariance;
        setHead(nn::vicregProjectionHead(width(), config.hiddenDim, config.projectionDim, int(config.layers)));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor z0 = project(views.at(0)), z1 = project(views.at(1));
        return {losses::vicReg(z0, z1, m_options, *context.ranks), spread(z0, z1), z0.size(1)};
    }

private:
    losses::VicRegOptions m_options;
};

const Registry::Entry entry(described<VicReg, VicRegConfig>(
    {.name = "vicreg",
     .label = "VICReg",
     .paper = "Bardes et al. 2022, arXiv:2105.04906",
     .use = "Views agree, dimensions stay spread and independent: three terms to weigh. Steady with LARS.",
     .usesGather = true,
     .gatherAdvice = "Needed: variance and covariance are of the whole batch. A rank's share alone gives noisy ones.",
     .syncBnAdvice = "As published. Keep it on: without it each rank scales its outputs differently."}));

} // namespace

} // namespace parallax::methods
