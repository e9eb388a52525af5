// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/swav.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"
#include "core/engine/nn/prototypes.h"

#include <cmath>

namespace parallax::methods {

namespace {

struct SwavConfig : MultiCrop {
    std::int64_t prototypes = 512;
    double temperature = 0.1, epsilon = 0.05;
    std::int64_t iterations = 3;
    std::int64_t queueSize = 0, queueStartEpoch = 15;
    std::int64_t freezeEpochs = 0;
    std::int64_t hiddenDim = 0, projectionDim = 128;
    static void describe(config::Group<SwavConfig> &group)
    {
        group.field("prototypes", &SwavConfig::prototypes)
            .label("Prototypes")
            .range(2, 1 << 20)
            .help("Clusters that images are assigned to: several times the classes one expects.");
        fields::temperature(group, &SwavConfig::temperature).help("Small values make predictions sharp.");
        group.field("epsilon", &SwavConfig::epsilon)
            .label("Assignment width")
            .range(0.001, 10)
            .advanced()
            .help("Regularisation of Sinkhorn-Knopp: small values make assignments sharp.");
        group.field("iterations", &SwavConfig::iterations)
            .label("Sinkhorn iterations")
            .range(0, 100)
            .advanced()
            .help("How well assignments are balanced over the prototypes.");
        describeCrops(group);
        group.field("queue_size", &SwavConfig::queueSize)
            .label("Queue")
            .unit("images")
            .range(0, 1 << 22)
            .help(
                "Earlier images that take part in the balance: for batches smaller than the number of prototypes. 0: none.");
        group.field("queue_start_epoch", &SwavConfig::queueStartEpoch)
            .label("Queue from epoch")
            .atLeast(0)
            .advanced()
            .help("The queue takes part from this epoch on, counted from 0: early features are of no use.");
        group.field("freeze_epochs", &SwavConfig::freezeEpochs)
            .label("Prototypes still for")
            .unit("epochs")
            .atLeast(0)
            .advanced()
            .help("The prototypes learn only after so many epochs.");
        fields::hiddenDimOrFeatures(group, &SwavConfig::hiddenDim);
        fields::projectionDim(group, &SwavConfig::projectionDim)
            .help("Width of the vectors that are compared with the prototypes.");
    }
};

class Swav final : public ProjectingMethod
{
public:
    Swav(const SwavConfig &config, const BackboneFactory &make) : ProjectingMethod(make), m_config(config)
    {
        setHead(nn::twoLayerHead(width(), orWidth(config.hiddenDim), config.projectionDim));
        m_prototypes = register_module("prototypes", nn::Prototypes(config.projectionDim, config.prototypes));
        for (std::size_t view = 0; config.queueSize > 0 && view < largeViews; ++view)
            m_queues.push_back(
                register_module("queue" + std::to_string(view), nn::MemoryBank(config.queueSize, config.projectionDim)));
    }

    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const override { return m_config.views(augment); }

    void beforeStep(const Context &) override { m_prototypes->normalise(); }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        std::vector<torch::Tensor> features, high, low;
        for (const auto &view : views) {
            features.push_back(
                torch::nn::functional::normalize(project(view), torch::nn::functional::NormalizeFuncOptions().p(2).dim(1)));
            (high.size() < largeViews ? high : low).push_back(m_prototypes->forward(features.back()));
        }
        const torch::Tensor loss =
            losses::swav(high, low, queueScores(features, context),
                         {m_config.temperature, int(m_config.iterations), m_config.epsilon}, *context.ranks);
        return {loss, spread(features.at(0), features.at(1)), features.at(0).size(1)};
    }

    void afterBackward(const Context &context) override
    {
        if (context.epoch < m_config.freezeEpochs) m_prototypes->dropGradient();
    }

    double chanceLoss(std::int64_t) const override { return std::log(double(m_config.prototypes)); }

private:
    static constexpr std::size_t largeViews = 2;

    /// What the queues held before this batch, which they take up.
    std::vector<torch::Tensor> queueScores(const std::vector<torch::Tensor> &features, const Context &context)
    {
        const torch::NoGradGuard noGrad;
        std::vector<torch::Tensor> scores;
        for (std::size_t view = 0; view < m_queues.size(); ++view) {
            const torch::Tensor earlier = m_queues[view]->rows();
            m_queues[view]->enqueue(features[view].detach(), *context.all);
            // Every rank holds the whole queue, and its assignment counts each row once: a share each.
            if (context.epoch >= m_config.queueStartEpoch)
                scores.push_back(m_prototypes->forward(shareOf(earlier, *context.ranks)));
        }
        return scores;
    }

    static torch::Tensor shareOf(const torch::Tensor &rows, const dist::Ranks &ranks)
    {
        const std::int64_t begin = rows.size(0) * ranks.rank() / ranks.world(),
                           end = rows.size(0) * (ranks.rank() + 1) / ranks.world();
        return rows.narrow(0, begin, end - begin);
    }

    SwavConfig m_config;
    nn::Prototypes m_prototypes = nullptr;
    std::vector<nn::MemoryBank> m_queues; ///< none, or one a large view
};

const Registry::Entry entry(described<Swav, SwavConfig>(
    {.name = "swav",
     .label = "SwAV",
     .paper = "Caron et al. 2020, arXiv:2006.09882",
     .use = "Views agree on which cluster an image belongs to. With small views it is among the best on large images.",
     .usesGather = true,
     .gatherAdvice = "Needed: the clusters are filled evenly over the whole batch. A rank's share has too few images for "
                     "all of them.",
     .syncBnAdvice = "As published. Keep it on, above all with few images a rank."}));

} // namespace

} // namespace parallax::methods
