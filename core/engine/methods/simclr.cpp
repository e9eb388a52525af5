// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ntxent.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

#include <cmath>

namespace parallax::methods {

namespace {

struct SimClrConfig {
    double temperature = 0.5;
    std::int64_t hiddenDim = 0;
    std::int64_t projectionDim = 128;
    std::int64_t layers = 2;
    static void describe(config::Group<SimClrConfig> &group)
    {
        fields::temperature(group, &SimClrConfig::temperature);
        fields::hiddenDimOrFeatures(group, &SimClrConfig::hiddenDim);
        fields::projectionDim(group, &SimClrConfig::projectionDim);
        group.field("layers", &SimClrConfig::layers)
            .label("Head layers")
            .range(2, 8)
            .advanced()
            .help("Linear layers of the projection head.");
    }
};

class SimClr final : public ProjectingMethod
{
public:
    SimClr(const SimClrConfig &config, const BackboneFactory &make)
        : ProjectingMethod(make), m_temperature(config.temperature)
    {
        setHead(nn::simclrProjectionHead(width(), orWidth(config.hiddenDim), config.projectionDim, int(config.layers)));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        // Two forwards: the batch norms see one view at a time, as in the reference implementations.
        const torch::Tensor z0 = project(views.at(0)), z1 = project(views.at(1));
        return {losses::ntxent(z0, z1, m_temperature, *context.ranks), spread(z0, z1), z0.size(1)};
    }

    double chanceLoss(std::int64_t batch) const override { return std::log(2 * double(batch) - 1); }

private:
    double m_temperature;
};

const Registry::Entry entry(described<SimClr, SimClrConfig>(
    {.name = "simclr",
     .label = "SimCLR",
     .paper = "Chen et al. 2020, arXiv:2002.05709",
     .use = "Two views of an image find each other among all others of the batch. A good first choice.",
     .usesGather = true,
     .wantsLargeBatch = true,
     .gatherAdvice = "Needed: the images of the other ranks are what an image is told from. Without it each rank compares "
                     "its own share alone.",
     .syncBnAdvice = "Keep it on: from statistics of its own rank alone the network can tell which images lie there, and "
                     "cheats."}));

} // namespace

} // namespace parallax::methods
