// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/dcl.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

namespace parallax::methods {

namespace {

struct DclConfig {
    double temperature = 0.1;
    std::int64_t hiddenDim = 0;
    std::int64_t projectionDim = 128;
    static void describe(config::Group<DclConfig> &group)
    {
        fields::temperature(group, &DclConfig::temperature);
        fields::hiddenDimOrFeatures(group, &DclConfig::hiddenDim);
        fields::projectionDim(group, &DclConfig::projectionDim);
    }
};

class Dcl final : public ProjectingMethod
{
public:
    Dcl(const DclConfig &config, const BackboneFactory &make) : ProjectingMethod(make), m_config(config)
    {
        setHead(nn::simclrProjectionHead(width(), orWidth(config.hiddenDim), config.projectionDim));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor z0 = project(views.at(0)), z1 = project(views.at(1));
        return {losses::dcl(z0, z1, m_config.temperature, *context.ranks), spread(z0, z1), z0.size(1)};
    }

private:
    DclConfig m_config;
};

const Registry::Entry entry(described<Dcl, DclConfig>(
    {.name = "dcl",
     .label = "DCL",
     .paper = "Yeh et al. 2022, arXiv:2110.06848",
     .use = "SimCLR without the positive pair among the rivals: small batches lose less.",
     .usesGather = true,
     .gatherAdvice = "Needed: the loss tells an image from those of all ranks. Without it each rank compares its own "
                     "share alone.",
     .syncBnAdvice = "Keep it on: from statistics of its own rank alone the network can tell which images lie there, and "
                     "cheats."}));

} // namespace

} // namespace parallax::methods
