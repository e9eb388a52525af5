// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/infonce.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

#include <cmath>

namespace parallax::methods {

namespace {

struct MocoV3Config {
    double temperature = 0.2, momentum = 0.99, momentumEnd = 1;
    std::int64_t hiddenDim = 4096, projectionDim = 256;
    static void describe(config::Group<MocoV3Config> &group)
    {
        fields::temperature(group, &MocoV3Config::temperature);
        fields::momentum(group, &MocoV3Config::momentum, &MocoV3Config::momentumEnd);
        fields::hiddenDim(group, &MocoV3Config::hiddenDim)
            .help("Width of the hidden layers of projection and prediction head.");
        fields::projectionDim(group, &MocoV3Config::projectionDim);
    }
};

class MocoV3 final : public MomentumMethod
{
public:
    MocoV3(const MocoV3Config &config, const BackboneFactory &make) : MomentumMethod(make), m_config(config)
    {
        const auto head = [&] { return nn::mocoProjectionHead(width(), config.hiddenDim, config.projectionDim, 3, true); };
        setHeads(head(), head());
        m_predictor =
            register_module("prediction_head",
                            nn::mocoProjectionHead(config.projectionDim, config.hiddenDim, config.projectionDim, 2, true));
    }

    void beforeStep(const Context &context) override
    {
        moveAverage(momentumAt(m_config.momentum, m_config.momentumEnd, context));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor q0 = m_predictor->forward(project(views.at(0)));
        const torch::Tensor q1 = m_predictor->forward(project(views.at(1)));
        const torch::Tensor k0 = projectByAverage(views.at(0)), k1 = projectByAverage(views.at(1));
        const double t = m_config.temperature;
        const torch::Tensor loss = losses::infoNce(q0, k1, t, *context.ranks) + losses::infoNce(q1, k0, t, *context.ranks);
        return {2 * t * loss, spread(q0, k1), q0.size(1)};
    }

    double chanceLoss(std::int64_t batch) const override { return 4 * m_config.temperature * std::log(double(batch)); }

private:
    MocoV3Config m_config;
    nn::Head m_predictor = nullptr;
};

const Registry::Entry entry(described<MocoV3, MocoV3Config>(
    {.name = "mocov3",
     .label = "MoCo v3",
     .paper = "Chen et al. 2021, arXiv:2104.02057",
     .use =
         "A predictor finds the momentum network's keys within the batch. Made for vision transformers and large batches.",
     .usesGather = true,
     .wantsLargeBatch = true,
     .gatherAdvice = "Needed: an image's key is told from those of all ranks. Without it each rank compares its own share "
                     "alone.",
     .syncBnAdvice = "Keep it on for convolutional networks and for the heads, which have batch norm also behind a "
                     "transformer."}));

} // namespace

} // namespace parallax::methods
