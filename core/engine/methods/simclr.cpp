// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/ntxent.h"
#include "core/engine/methods/method.h"
#include "core/engine/nn/head.h"

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
        group.field("temperature", &SimClrConfig::temperature)
            .label("Temperature")
            .range(0.01, 10)
            .help("Small values let the nearest other images count most.");
        group.field("hidden_dim", &SimClrConfig::hiddenDim)
            .label("Hidden width")
            .range(0, 65536)
            .advanced()
            .help("Width of the hidden layers of the projection head. 0: as wide as the features.");
        group.field("projection_dim", &SimClrConfig::projectionDim)
            .label("Projection width")
            .range(2, 65536)
            .advanced()
            .help("Width of the vectors that the loss compares.");
        group.field("layers", &SimClrConfig::layers)
            .label("Head layers")
            .range(2, 8)
            .advanced()
            .help("Linear layers of the projection head.");
    }
};

/// What tells whether a representation still spreads out: standard deviation of the L2-normalised projections, mean over the
/// dimensions (1/√d when they fill the sphere, 0 when they have collapsed), and the mean cosine of true and of false pairs.
std::map<std::string, double> spread(const torch::Tensor &z0, const torch::Tensor &z1)
{
    torch::NoGradGuard noGrad;
    const auto options = torch::nn::functional::NormalizeFuncOptions().p(2).dim(1);
    const torch::Tensor a = torch::nn::functional::normalize(z0.detach().to(torch::kFloat32), options);
    const torch::Tensor b = torch::nn::functional::normalize(z1.detach().to(torch::kFloat32), options);
    const double n = double(a.size(0));
    const torch::Tensor positive = (a * b).sum() / n;
    // Σ over all pairs is the product of the sums: no n × n matrix.
    const torch::Tensor negative = (torch::dot(a.sum(0), b.sum(0)) - (a * b).sum()) / std::max(1.0, n * (n - 1));
    // One transfer for the three, so that a GPU waits once.
    const torch::Tensor figures = torch::stack({a.std(0, /*unbiased=*/false).mean(), positive, negative}).cpu();
    return {{"feature_std", figures[0].item<double>()},
            {"positive_similarity", figures[1].item<double>()},
            {"negative_similarity", figures[2].item<double>()}};
}

class SimClr final : public Method
{
public:
    SimClr(const SimClrConfig &config, nn::Backbone backbone) : m_temperature(config.temperature)
    {
        const std::int64_t features = backbone->features;
        const std::int64_t hidden = config.hiddenDim > 0 ? config.hiddenDim : features;
        m_backbone = register_module("backbone", std::move(backbone));
        m_head = register_module("projection_head",
                                 nn::simclrProjectionHead(features, hidden, config.projectionDim, int(config.layers)));
    }

    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const override { return {{augment}, {augment}}; }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        // Two forwards: the batch norms see one view at a time, as in the reference implementations.
        const torch::Tensor z0 = m_head->forward(m_backbone->forward(views.at(0)));
        const torch::Tensor z1 = m_head->forward(m_backbone->forward(views.at(1)));
        return {losses::ntxent(z0, z1, m_temperature, *context.ranks), spread(z0, z1), z0.size(1)};
    }

    torch::Tensor features(const torch::Tensor &images) override { return m_backbone->forward(images); }

    double chanceLoss(std::int64_t batch) const override { return std::log(2 * double(batch) - 1); }

    std::shared_ptr<torch::nn::Module> backbone() const override { return m_backbone; }

private:
    double m_temperature;
    nn::Backbone m_backbone;
    nn::Head m_head = nullptr;
};

const Registry::Entry
    entry({.name = "simclr",
           .label = "SimCLR",
           .paper = "Chen et al. 2020, arXiv:2002.05709",
           .use = "Two views of an image find each other among all others of the batch. A good first choice.",
           .usesGather = true,
           .wantsLargeBatch = true,
           .declareOptions =
               [](config::Schema &schema) {
                   config::declare<SimClrConfig>(schema, "method", "Method", config::Condition{"method.name", "simclr"});
               },
           .make =
               [](const config::Json &config, nn::Backbone backbone) {
                   return std::make_shared<SimClr>(config::read<SimClrConfig>(config, "method"), std::move(backbone));
               }});

} // namespace

} // namespace parallax::methods
