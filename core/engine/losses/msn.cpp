// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/msn.h"

#include "core/engine/losses/sinkhorn.h"
#include "core/engine/losses/tensors.h"

#include <cmath>
#include <functional>

namespace parallax::losses {

namespace {

/// `regulariser`: of the logarithm of the mean anchor [K].
torch::Tensor masked(const torch::Tensor &anchors, const torch::Tensor &targets, const torch::Tensor &prototypes,
                     const MsnOptions &options, const dist::Ranks &ranks,
                     const std::function<torch::Tensor(const torch::Tensor &)> &regulariser)
{
    TORCH_CHECK(anchors.dim() == 2 && targets.dim() == 2 && prototypes.dim() == 2 && targets.size(0) > 0 &&
                    anchors.size(0) % targets.size(0) == 0 && anchors.size(0) > 0,
                "MSN takes anchors [V·n, d], targets [n, d] and prototypes [K, d], not ", anchors.sizes(), ", ",
                targets.sizes(), " and ", prototypes.sizes());
    const torch::Tensor centres = normalised(prototypes).t(); // [d, K]
    const auto logProbabilities = [&](const torch::Tensor &rows) {
        return (torch::matmul(normalised(rows), centres) / options.temperature).log_softmax(1);
    };
    const torch::Tensor anchor = logProbabilities(anchors); // [V·n, K]
    torch::Tensor target;
    {
        torch::NoGradGuard noGrad;
        const torch::Tensor sharp = (logProbabilities(targets) / options.sharpening).log_softmax(1);
        target = options.iterations > 0 ? sinkhorn(sharp, options.iterations, ranks) : sharp.exp();
    }
    target = target.repeat({anchors.size(0) / targets.size(0), 1});
    const torch::Tensor loss = rankMean(-(target * anchor).sum(1), ranks);
    if (options.regularisation == 0) return loss;
    const double total = double(ranks.offsetOf(anchor.size(0)).second);
    return loss + options.regularisation * regulariser(logSumExpOfRows(anchor, ranks) - std::log(total));
}

} // namespace

torch::Tensor msn(const torch::Tensor &anchors, const torch::Tensor &targets, const torch::Tensor &prototypes,
                  const MsnOptions &options, const dist::Ranks &ranks)
{
    return masked(anchors, targets, prototypes, options, ranks, [](const torch::Tensor &logMean) {
        return (logMean.exp() * logMean).sum() + std::log(double(logMean.size(0)));
    });
}

torch::Tensor pmsn(const torch::Tensor &anchors, const torch::Tensor &targets, const torch::Tensor &prototypes,
                   const torch::Tensor &prior, const MsnOptions &options, const dist::Ranks &ranks)
{
    TORCH_CHECK(prior.dim() == 1 && prior.size(0) == prototypes.size(0), "PMSN was given a prior of shape ", prior.sizes(),
                " for ", prototypes.size(0), " prototypes");
    return masked(anchors, targets, prototypes, options, ranks,
                  [&](const torch::Tensor &logMean) { return (torch::xlogy(prior, prior) - prior * logMean).sum(); });
}

torch::Tensor powerLaw(std::int64_t size, double exponent, torch::Device device)
{
    const torch::Tensor power =
        torch::arange(1, size + 1, torch::TensorOptions(torch::kFloat32).device(device)).pow(-exponent);
    return power / power.sum();
}

} // namespace parallax::losses
