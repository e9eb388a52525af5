// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ntxent.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

#include <cmath>

namespace parallax::methods {

namespace {

struct NnclrConfig {
    double temperature = 0.5;
    std::int64_t bankSize = 4096;
    std::int64_t hiddenDim = 2048, projectionDim = 256, predictionDim = 4096;
    static void describe(config::Group<NnclrConfig> &group)
    {
        fields::temperature(group, &NnclrConfig::temperature);
        group.field("bank_size", &NnclrConfig::bankSize)
            .label("Memory bank")
            .unit("images")
            .range(1, 1 << 22)
            .help("Earlier images among which each image's nearest neighbour is looked for.");
        fields::hiddenDim(group, &NnclrConfig::hiddenDim);
        fields::projectionDim(group, &NnclrConfig::projectionDim);
        group.field("prediction_dim", &NnclrConfig::predictionDim)
            .label("Prediction width")
            .range(2, 65536)
            .advanced()
            .help("Hidden width of the prediction head.");
    }
};

class Nnclr final : public ProjectingMethod
{
public:
    Nnclr(const NnclrConfig &config, const BackboneFactory &make) : ProjectingMethod(make), m_temperature(config.temperature)
    {
        setHead(nn::nnclrProjectionHead(width(), config.hiddenDim, config.projectionDim));
        m_predictor = register_module("prediction_head",
                                      nn::twoLayerHead(config.projectionDim, config.predictionDim, config.projectionDim));
        m_bank = register_module("memory_bank", nn::MemoryBank(config.bankSize, config.projectionDim));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor z0 = project(views.at(0)), p0 = m_predictor->forward(z0);
        const torch::Tensor z1 = project(views.at(1)), p1 = m_predictor->forward(z1);
        const torch::Tensor near0 = m_bank->nearest(z0.detach()), near1 = m_bank->nearest(z1.detach());
        m_bank->enqueue(z1.detach(), *context.all);
        const torch::Tensor loss = 0.5 *
            (losses::ntxent(near0, p1, m_temperature, *context.ranks) +
             losses::ntxent(near1, p0, m_temperature, *context.ranks));
        return {loss, spread(z0, z1), z0.size(1)};
    }

    double chanceLoss(std::int64_t batch) const override { return std::log(2 * double(batch) - 1); }

private:
    double m_temperature;
    nn::Head m_predictor = nullptr;
    nn::MemoryBank m_bank = nullptr;
};

const Registry::Entry entry(described<Nnclr, NnclrConfig>(
    {.name = "nnclr",
     .label = "NNCLR",
     .paper = "Dwibedi et al. 2021, arXiv:2104.14548",
     .use = "An image's nearest neighbour stands for it: learns beyond what augmentations show.",
     .usesGather = true,
     .wantsLargeBatch = true,
     .gatherAdvice = "Needed: an image's neighbour is told from the images of all ranks. Without it each rank compares "
                     "its own share alone.",
     .syncBnAdvice = "Keep it on: from statistics of its own rank alone the network can tell which images lie there, and "
                     "cheats."}));

} // namespace

} // namespace parallax::methods
