// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/dcl.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

namespace parallax::methods {

namespace {

struct DclwConfig {
    double temperature = 0.1;
    double sigma = 0.5;
    std::int64_t hiddenDim = 0;
    std::int64_t projectionDim = 128;
    static void describe(config::Group<DclwConfig> &group)
    {
        fields::temperature(group, &DclwConfig::temperature);
        group.field("sigma", &DclwConfig::sigma)
            .label("Weight width")
            .range(0.01, 10)
            .help("Pairs that still differ count more; a small value makes the difference larger.");
        fields::hiddenDimOrFeatures(group, &DclwConfig::hiddenDim);
        fields::projectionDim(group, &DclwConfig::projectionDim);
    }
};

class Dclw final : public ProjectingMethod
{
public:
    Dclw(const DclwConfig &config, const BackboneFactory &make) : ProjectingMethod(make), m_config(config)
    {
        setHead(nn::simclrProjectionHead(width(), orWidth(config.hiddenDim), config.projectionDim));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor z0 = project(views.at(0)), z1 = project(views.at(1));
        return {losses::dclw(z0, z1, m_config.temperature, m_config.sigma, *context.ranks), spread(z0, z1), z0.size(1)};
    }

private:
    DclwConfig m_config;
};

const Registry::Entry entry(described<Dclw, DclwConfig>(
    {.name = "dclw",
     .label = "DCLW",
     .paper = "Yeh et al. 2022, arXiv:2110.06848",
     .use = "DCL that lets pairs count more that still differ.",
     .usesGather = true,
     .gatherAdvice = "Needed: the loss tells an image from those of all ranks. Without it each rank compares its own "
                     "share alone.",
     .syncBnAdvice = "Keep it on: from statistics of its own rank alone the network can tell which images lie there, and "
                     "cheats."}));

} // namespace

} // namespace parallax::methods
