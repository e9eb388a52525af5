// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/methods/parts.h"

#include "core/engine/nn/ema.h"
#include "core/engine/optim/schedule.h"

namespace parallax::methods {

std::vector<data::ViewSpec> twoViews(const data::AugmentConfig &augment)
{
    data::AugmentConfig first = augment, second = augment;
    first.solarizeP = 0; // "solarize_p" is the second view's
    if (augment.secondBlurP >= 0) second.blurP = augment.secondBlurP;
    return {{first}, {second}};
}

std::vector<data::ViewSpec> MultiCrop::views(const data::AugmentConfig &augment) const
{
    auto views = twoViews(augment);
    data::AugmentConfig local = augment;
    local.size = localSize;
    local.cropMin = localCropMin;
    local.cropMax = localCropMax;
    local.solarizeP = 0;
    for (std::int64_t i = 0; i < localViews; ++i) views.push_back({local});
    return views;
}

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

BackboneMethod::BackboneMethod(const BackboneFactory &make, const std::string &name)
    : m_backbone(register_module(name, make()))
{
}

double momentumAt(double start, double end, const Context &context)
{
    return optim::cosineSchedule(context.step, context.steps, start, end);
}

void MomentumMethod::setHeads(nn::Head head, nn::Head average)
{
    setHead(std::move(head));
    m_averageBackbone = register_module("backbone_momentum", m_makeBackbone());
    m_averageHead = register_module("projection_head_momentum", std::move(average));
    nn::startMomentum(*m_backbone, *m_averageBackbone);
    nn::startMomentum(*m_head, *m_averageHead);
    m_makeBackbone = nullptr;
}

void MomentumMethod::moveAverage(double momentum)
{
    nn::updateMomentum(*m_backbone, *m_averageBackbone, momentum);
    nn::updateMomentum(*m_head, *m_averageHead, momentum);
}

torch::Tensor MomentumMethod::projectByAverage(const torch::Tensor &images)
{
    const torch::NoGradGuard noGrad;
    return m_averageHead->forward(m_averageBackbone->forward(images));
}

torch::Tensor shuffled(const torch::Tensor &images, const Context &context,
                       const std::function<torch::Tensor(const torch::Tensor &)> &network)
{
    const dist::Ranks &all = *context.all;
    if (context.syncBatchNorm || all.world() == 1) return network(images);
    const auto [offset, total] = all.offsetOf(images.size(0));
    // Every rank draws the same order: the trainer seeds the generator by the step.
    const torch::Tensor order = torch::randperm(total, torch::kInt64).to(images.device());
    const torch::Tensor mine = order.narrow(0, offset, images.size(0));
    const torch::Tensor dealt = all.allGatherRows(images).index_select(0, mine);
    const torch::Tensor out = all.allGatherRows(network(dealt));
    return out.index_select(0, order.argsort().narrow(0, offset, images.size(0)));
}

torch::Tensor randomRows(const torch::Tensor &like, std::int64_t n, std::int64_t columns, const dist::Ranks &all)
{
    const auto [offset, total] = all.offsetOf(n);
    // On the CPU, so that a rank's device does not change the draw.
    return torch::rand({total, columns}, torch::kFloat32).narrow(0, offset, n).to(like.device());
}

} // namespace parallax::methods
