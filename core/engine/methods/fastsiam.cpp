// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/negativecosine.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"

namespace parallax::methods {

namespace {

struct FastSiamConfig {
    std::int64_t views = 4;
    std::int64_t projectionDim = 2048, predictionDim = 512, hiddenDim = 2048;
    static void describe(config::Group<FastSiamConfig> &group)
    {
        group.field("views", &FastSiamConfig::views)
            .label("Views")
            .unit("an image")
            .range(2, 16)
            .help("Each view predicts the mean of the others: more of them make a steadier target, and cost more.");
        fields::projectionDim(group, &FastSiamConfig::projectionDim);
        group.field("prediction_dim", &FastSiamConfig::predictionDim)
            .label("Bottleneck")
            .range(2, 65536)
            .advanced()
            .help("Hidden width of the prediction head: narrower than the projection.");
        fields::hiddenDim(group, &FastSiamConfig::hiddenDim);
    }
};

class FastSiam final : public ProjectingMethod
{
public:
    FastSiam(const FastSiamConfig &config, const BackboneFactory &make) : ProjectingMethod(make), m_views(config.views)
    {
        setHead(nn::simsiamProjectionHead(width(), config.hiddenDim, config.projectionDim));
        m_predictor = register_module("prediction_head",
                                      nn::twoLayerHead(config.projectionDim, config.predictionDim, config.projectionDim));
    }

    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const override
    {
        const auto two = twoViews(augment);
        std::vector<data::ViewSpec> views;
        for (std::int64_t i = 0; i < m_views; ++i) views.push_back(two[std::size_t(i % 2)]);
        return views;
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        std::vector<torch::Tensor> predictions, targets;
        torch::Tensor sum;
        for (const auto &view : views) {
            const torch::Tensor z = project(view);
            predictions.push_back(m_predictor->forward(z));
            targets.push_back(z.detach());
            sum = sum.defined() ? sum + targets.back() : targets.back();
        }
        const double others = double(views.size() - 1);
        torch::Tensor loss;
        for (std::size_t v = 0; v < views.size(); ++v) {
            const torch::Tensor term = losses::negativeCosine(predictions[v], (sum - targets[v]) / others, *context.ranks);
            loss = loss.defined() ? loss + term : term;
        }
        return {loss / double(views.size()), spread(targets[0], targets[1]), targets[0].size(1)};
    }

private:
    std::int64_t m_views;
    nn::Head m_predictor = nullptr;
};

const Registry::Entry entry(described<FastSiam, FastSiamConfig>(
    {.name = "fastsiam",
     .label = "FastSiam",
     .paper = "Pototzky et al. 2022, doi:10.1007/978-3-031-16788-1_4",
     .use = "SimSiam with the mean of several views as target: converges in fewer epochs, on small batches.",
     .gatherAdvice = "No effect: an image is compared with its own other views alone.",
     .syncBnAdvice = "Keep it on: it is batch norm in the heads that keeps the outputs from collapsing, and batches are "
                     "small here."}));

} // namespace

} // namespace parallax::methods
