// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/barlowtwins.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

namespace parallax::methods {

namespace {

struct BarlowTwinsConfig {
    double lambda = 0.005;
    std::int64_t hiddenDim = 2048, projectionDim = 2048;
    static void describe(config::Group<BarlowTwinsConfig> &group)
    {
        group.field("lambda", &BarlowTwinsConfig::lambda)
            .label("Redundancy weight")
            .range(1e-6, 10)
            .help("How much the correlation of different dimensions counts beside that of equal ones.");
        fields::hiddenDim(group, &BarlowTwinsConfig::hiddenDim)
            .help("Width of the two hidden layers of the projection head.");
        fields::projectionDim(group, &BarlowTwinsConfig::projectionDim)
            .help("Width of the vectors whose dimensions the loss makes independent. Wide is good.");
    }
};

class BarlowTwins final : public ProjectingMethod
{
public:
    BarlowTwins(const BarlowTwinsConfig &config, const BackboneFactory &make)
        : ProjectingMethod(make), m_lambda(config.lambda)
    {
        setHead(nn::vicregProjectionHead(width(), config.hiddenDim, config.projectionDim, 3));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor z0 = project(views.at(0)), z1 = project(views.at(1));
        return {losses::barlowTwins(z0, z1, m_lambda, *context.ranks), spread(z0, z1), z0.size(1)};
    }

private:
    double m_lambda;
};

const Registry::Entry entry(described<BarlowTwins, BarlowTwinsConfig>(
    {.name = "barlowtwins",
     .label = "Barlow Twins",
     .paper = "Zbontar et al. 2021, arXiv:2103.03230",
     .use = "Views agree in every dimension, and dimensions say different things. No negatives, no momentum network.",
     .usesGather = true,
     .gatherAdvice = "Needed: the correlations between dimensions are of the whole batch. A rank's share alone gives "
                     "noisy ones.",
     .syncBnAdvice = "As published. Keep it on: the correlations are of outputs that batch norm has scaled."}));

} // namespace

} // namespace parallax::methods
