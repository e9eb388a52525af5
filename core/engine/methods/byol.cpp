// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/negativecosine.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

namespace parallax::methods {

namespace {

struct ByolConfig {
    double momentum = 0.99, momentumEnd = 0.99;
    std::int64_t hiddenDim = 1024, projectionDim = 256;
    static void describe(config::Group<ByolConfig> &group)
    {
        fields::momentum(group, &ByolConfig::momentum, &ByolConfig::momentumEnd);
        fields::hiddenDim(group, &ByolConfig::hiddenDim)
            .help("Width of the hidden layers of projection and prediction head.");
        fields::projectionDim(group, &ByolConfig::projectionDim);
    }
};

class Byol final : public MomentumMethod
{
public:
    Byol(const ByolConfig &config, const BackboneFactory &make) : MomentumMethod(make), m_config(config)
    {
        const auto head = [&] { return nn::twoLayerHead(width(), config.hiddenDim, config.projectionDim); };
        setHeads(head(), head());
        m_predictor = register_module("prediction_head",
                                      nn::twoLayerHead(config.projectionDim, config.hiddenDim, config.projectionDim));
    }

    void beforeStep(const Context &context) override
    {
        moveAverage(momentumAt(m_config.momentum, m_config.momentumEnd, context));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor p0 = m_predictor->forward(project(views.at(0))), z0 = projectByAverage(views.at(0));
        const torch::Tensor p1 = m_predictor->forward(project(views.at(1))), z1 = projectByAverage(views.at(1));
        return {losses::symmetricNegativeCosine(p0, p1, z0, z1, *context.ranks), spread(z0, z1), z0.size(1)};
    }

private:
    ByolConfig m_config;
    nn::Head m_predictor = nullptr;
};

const Registry::Entry entry(described<Byol, ByolConfig>(
    {.name = "byol",
     .label = "BYOL",
     .paper = "Grill et al. 2020, arXiv:2006.07733",
     .use = "Predicts a momentum network's view of the image: no negatives, so small batches do.",
     .gatherAdvice = "No effect: an image is compared with its own other view alone.",
     .syncBnAdvice = "Keep it on where a rank has few images: batch norm keeps the outputs apart, and needs sound "
                     "statistics for it."}));

} // namespace

} // namespace parallax::methods
