// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ntxent.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

#include <cmath>

namespace parallax::methods {

namespace {

struct MocoConfig {
    double temperature = 0.1;
    std::int64_t bankSize = 4096;
    double momentum = 0.99, momentumEnd = 0.99;
    bool symmetric = true, shuffle = true;
    std::int64_t hiddenDim = 0, projectionDim = 128;
    static void describe(config::Group<MocoConfig> &group)
    {
        fields::temperature(group, &MocoConfig::temperature);
        group.field("bank_size", &MocoConfig::bankSize)
            .label("Memory bank")
            .unit("images")
            .range(1, 1 << 22)
            .help("Earlier images that serve as rivals: many, whatever the batch size.");
        fields::momentum(group, &MocoConfig::momentum, &MocoConfig::momentumEnd);
        group.field("symmetric", &MocoConfig::symmetric)
            .label("Both directions")
            .advanced()
            .help("Each view is query and key in turn, which doubles the work of a step.");
        group.field("shuffle", &MocoConfig::shuffle)
            .label("Shuffled batch norm")
            .advanced()
            .help(
                "Keys are computed on other ranks than queries, so that batch norm cannot betray the pairs. Not needed, and "
                "not done, where batch norm is synchronised.");
        fields::hiddenDimOrFeatures(group, &MocoConfig::hiddenDim);
        fields::projectionDim(group, &MocoConfig::projectionDim);
    }
};

class Moco final : public MomentumMethod
{
public:
    Moco(const MocoConfig &config, const BackboneFactory &make) : MomentumMethod(make), m_config(config)
    {
        const auto head = [&] { return nn::mocoProjectionHead(width(), orWidth(config.hiddenDim), config.projectionDim); };
        setHeads(head(), head());
        m_bank = register_module("memory_bank", nn::MemoryBank(config.bankSize, config.projectionDim));
    }

    void beforeStep(const Context &context) override
    {
        moveAverage(momentumAt(m_config.momentum, m_config.momentumEnd, context));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        const torch::Tensor rivals = m_bank->rows();
        const torch::Tensor query = project(views.at(0)), key = keyOf(views.at(1), context);
        torch::Tensor loss = losses::ntxentAgainstBank(query, key, rivals, m_config.temperature, *context.ranks);
        torch::Tensor otherKey;
        if (m_config.symmetric) {
            otherKey = keyOf(views.at(0), context);
            const torch::Tensor other = project(views.at(1));
            loss = 0.5 * (loss + losses::ntxentAgainstBank(other, otherKey, rivals, m_config.temperature, *context.ranks));
        }
        // After both directions: no image meets its own key as a rival. One by one: the order is that of the whole batch.
        m_bank->enqueue(unit(key), *context.all);
        if (otherKey.defined()) m_bank->enqueue(unit(otherKey), *context.all);
        return {loss, spread(query, key), query.size(1)};
    }

    double chanceLoss(std::int64_t) const override { return std::log(1 + double(m_config.bankSize)); }

private:
    static torch::Tensor unit(const torch::Tensor &rows)
    {
        return torch::nn::functional::normalize(rows, torch::nn::functional::NormalizeFuncOptions().p(2).dim(1));
    }
    torch::Tensor keyOf(const torch::Tensor &view, const Context &context)
    {
        const auto network = [this](const torch::Tensor &images) { return projectByAverage(images); };
        return m_config.shuffle ? shuffled(view, context, network) : network(view);
    }

    MocoConfig m_config;
    nn::MemoryBank m_bank = nullptr;
};

const Registry::Entry entry(described<Moco, MocoConfig>(
    {.name = "moco",
     .label = "MoCo v2",
     .paper = "Chen et al. 2020, arXiv:2003.04297",
     .use = "A bank of earlier images as rivals: many negatives for a small batch and a small GPU.",
     .gatherAdvice = "No effect: the rivals come from the bank, which holds images of all ranks either way.",
     .syncBnAdvice = "Off is as published: shuffled batch norm then hides which images belong together. On, ranks compute "
                     "as one."}));

} // namespace

} // namespace parallax::methods
