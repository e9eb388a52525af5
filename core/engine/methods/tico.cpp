// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/tico.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

namespace parallax::methods {

namespace {

struct TicoConfig {
    double beta = 0.9, rho = 20;
    double momentum = 0.99, momentumEnd = 1;
    std::int64_t hiddenDim = 1024, projectionDim = 256;
    static void describe(config::Group<TicoConfig> &group)
    {
        group.field("beta", &TicoConfig::beta)
            .label("Memory of the covariance")
            .range(0, 1)
            .help("Share of the moving covariance that stays at a step.");
        group.field("rho", &TicoConfig::rho)
            .label("Contrast")
            .atLeast(0)
            .help("Weight of what draws embeddings away from the directions in use.");
        fields::momentum(group, &TicoConfig::momentum, &TicoConfig::momentumEnd);
        fields::hiddenDim(group, &TicoConfig::hiddenDim);
        fields::projectionDim(group, &TicoConfig::projectionDim);
    }
};

class Tico final : public MomentumMethod
{
public:
    Tico(const TicoConfig &config, const BackboneFactory &make) : MomentumMethod(make), m_config(config)
    {
        const auto head = [&] { return nn::twoLayerHead(width(), config.hiddenDim, config.projectionDim); };
        setHeads(head(), head());
        m_loss = register_module("loss", losses::Tico(config.projectionDim, config.beta, config.rho));
    }

    void beforeStep(const Context &context) override
    {
        moveAverage(momentumAt(m_config.momentum, m_config.momentumEnd, context));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor query = project(views.at(0)), key = projectByAverage(views.at(1));
        return {m_loss->forward(query, key, *context.ranks), spread(query, key), query.size(1)};
    }

private:
    TicoConfig m_config;
    losses::Tico m_loss = nullptr;
};

const Registry::Entry entry(described<Tico, TicoConfig>(
    {.name = "tico",
     .label = "TiCo",
     .paper = "Zhu et al. 2022, arXiv:2206.10698",
     .use = "A moving covariance in place of a bank of negatives: small batches do, with little memory.",
     .usesGather = true,
     .gatherAdvice = "Needed: the moving covariance is of the whole batch. A rank's share alone gives a noisy one.",
     .syncBnAdvice = "Keep it on: the covariance is shared, so that all ranks must scale their outputs alike."}));

} // namespace

} // namespace parallax::methods
