// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/tensors.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"
#include "core/engine/nn/ema.h"
#include "core/engine/nn/kmeans.h"

#include <cmath>

namespace parallax::methods {

namespace {

struct SmogConfig {
    std::int64_t groups = 300, bankSize = 10000, resetSteps = 300, kmeansIterations = 10;
    double temperature = 0.1, beta = 0.99, momentum = 0.99, momentumEnd = 0.99;
    std::int64_t hiddenDim = 2048, projectionDim = 128;
    static void describe(config::Group<SmogConfig> &group)
    {
        group.field("groups", &SmogConfig::groups)
            .label("Groups")
            .range(2, 1 << 20)
            .help("Groups that images belong to: several times the classes one expects.");
        fields::temperature(group, &SmogConfig::temperature).help("Small values make predictions sharp.");
        group.field("beta", &SmogConfig::beta)
            .label("Group momentum")
            .range(0, 1)
            .help("Share of a group's feature that stays at a step.");
        fields::momentum(group, &SmogConfig::momentum, &SmogConfig::momentumEnd);
        group.field("bank_size", &SmogConfig::bankSize)
            .label("Memory bank")
            .unit("images")
            .range(1, 1 << 22)
            .advanced()
            .help("Earlier images that the groups are formed anew from.");
        group.field("reset_steps", &SmogConfig::resetSteps)
            .label("New groups every")
            .unit("steps")
            .atLeast(0)
            .advanced()
            .help("Groups are formed anew by k-means over the bank, and the momentum network starts again. 0: never.");
        group.field("kmeans_iterations", &SmogConfig::kmeansIterations)
            .label("k-means iterations")
            .range(1, 1000)
            .advanced()
            .help("How well new groups fit the bank.");
        fields::hiddenDim(group, &SmogConfig::hiddenDim)
            .help("Width of the hidden layers of projection and prediction head.");
        fields::projectionDim(group, &SmogConfig::projectionDim).help("Width of the vectors that are grouped.");
    }
};

/// Synchronous momentum grouping: the groups move with the batch, and the gradient goes through their motion.
class Smog final : public MomentumMethod
{
public:
    Smog(const SmogConfig &config, const BackboneFactory &make) : MomentumMethod(make), m_config(config)
    {
        const auto head = [&] { return nn::smogProjectionHead(width(), config.hiddenDim, config.projectionDim); };
        setHeads(head(), head());
        m_predictor = register_module("prediction_head",
                                      nn::twoLayerHead(config.projectionDim, config.hiddenDim, config.projectionDim));
        m_groups = register_buffer("groups", losses::normalised(torch::randn({config.groups, config.projectionDim})));
        m_bank = register_module("memory_bank", nn::MemoryBank(config.bankSize, config.projectionDim));
    }

    void beforeStep(const Context &context) override
    {
        if (m_config.resetSteps > 0 && context.step > 0 && context.step % m_config.resetSteps == 0) {
            m_groups.copy_(nn::kMeans(m_bank->rows(), m_config.groups, int(m_config.kmeansIterations)));
            nn::startMomentum(*m_backbone, *m_averageBackbone);
            nn::startMomentum(*m_head, *m_averageHead);
        } else
            moveAverage(momentumAt(m_config.momentum, m_config.momentumEnd, context));
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        // The views change places every step, so that each serves as the target.
        const auto turn = std::size_t(context.step % 2);
        const torch::Tensor z0 = project(views.at(turn)), p0 = m_predictor->forward(z0);
        const torch::Tensor z1 = projectByAverage(views.at(1 - turn));
        const torch::Tensor target = assign(z1);
        const torch::Tensor groups = moved(losses::normalised(z0), *context.ranks);
        const torch::Tensor logits =
            torch::matmul(losses::normalised(p0), losses::normalised(groups).t()) / m_config.temperature;
        const torch::Tensor rows = -torch::log_softmax(logits, 1).gather(1, target.unsqueeze(1)).squeeze(1);
        m_groups.copy_(groups.detach());
        m_bank->enqueue(losses::normalised(z0.detach()), *context.all);
        return {losses::rankMean(rows, *context.ranks), spread(z0, z1), z0.size(1)};
    }

    double chanceLoss(std::int64_t) const override { return std::log(double(m_config.groups)); }

private:
    /// The nearest group of each row, by cosine.
    torch::Tensor assign(const torch::Tensor &z) const
    {
        const torch::NoGradGuard noGrad;
        return torch::matmul(losses::normalised(z), losses::normalised(m_groups.to(z.scalar_type())).t()).argmax(1);
    }

    /// The groups after they have moved towards the mean of the batch's rows [n, d] that belong to them, over all ranks; with
    /// gradient to the rows.
    torch::Tensor moved(const torch::Tensor &z, const dist::Ranks &ranks) const
    {
        const torch::Tensor member = torch::one_hot(assign(z), m_config.groups).to(z.scalar_type()); // [n, groups]
        const torch::Tensor sum = ranks.sum(torch::matmul(member.t(), z));
        torch::Tensor count = member.sum(0);
        ranks.allReduceSum(count);
        const torch::Tensor mean = sum / count.clamp_min(1).unsqueeze(1);
        const torch::Tensor old = m_groups.detach().to(z.scalar_type());
        return torch::where(count.unsqueeze(1) > 0, m_config.beta * old + (1 - m_config.beta) * mean, old);
    }

    SmogConfig m_config;
    nn::Head m_predictor = nullptr;
    torch::Tensor m_groups; ///< [groups, d]
    nn::MemoryBank m_bank = nullptr;
};

const Registry::Entry entry(described<Smog, SmogConfig>(
    {.name = "smog",
     .label = "SMoG",
     .paper = "Pang et al. 2022, arXiv:2207.06167",
     .use = "Contrasts images with groups that move along with the batch, where SwAV's clusters lag behind.",
     .usesGather = true,
     .gatherAdvice = "Needed: the groups follow the images of all ranks, and an image is compared with all groups.",
     .syncBnAdvice = "Keep it on: the groups are shared, so that all ranks must scale their outputs alike."}));

} // namespace

} // namespace parallax::methods
