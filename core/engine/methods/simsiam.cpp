// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/negativecosine.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

namespace parallax::methods {

namespace {

struct SimSiamConfig {
    std::int64_t projectionDim = 2048, predictionDim = 512, hiddenDim = 2048;
    static void describe(config::Group<SimSiamConfig> &group)
    {
        group.field("projection_dim", &SimSiamConfig::projectionDim)
            .label("Projection width")
            .range(2, 65536)
            .help("Width of the vectors that the loss compares.");
        group.field("prediction_dim", &SimSiamConfig::predictionDim)
            .label("Bottleneck")
            .range(2, 65536)
            .advanced()
            .help("Hidden width of the prediction head: narrower than the projection.");
        fields::hiddenDim(group, &SimSiamConfig::hiddenDim);
    }
};

class SimSiam final : public ProjectingMethod
{
public:
    SimSiam(const SimSiamConfig &config, const BackboneFactory &make) : ProjectingMethod(make)
    {
        setHead(nn::simsiamProjectionHead(width(), config.hiddenDim, config.projectionDim));
        m_predictor = register_module("prediction_head",
                                      nn::twoLayerHead(config.projectionDim, config.predictionDim, config.projectionDim));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor z0 = project(views.at(0)), p0 = m_predictor->forward(z0);
        const torch::Tensor z1 = project(views.at(1)), p1 = m_predictor->forward(z1);
        return {losses::symmetricNegativeCosine(p0, p1, z0, z1, *context.ranks), spread(z0, z1), z0.size(1)};
    }

private:
    nn::Head m_predictor = nullptr;
};

const Registry::Entry entry(described<SimSiam, SimSiamConfig>(
    {.name = "simsiam",
     .label = "SimSiam",
     .paper = "Chen and He 2021, arXiv:2011.10566",
     .use = "Predicts the other view, and stops the gradient there: the simplest of all. Watch it for collapse.",
     .gatherAdvice = "No effect: an image is compared with its own other view alone.",
     .syncBnAdvice = "As published. Keep it on: it is batch norm in the heads that keeps the outputs from collapsing."}));

} // namespace

} // namespace parallax::methods
