// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/eval/quality.h"

#include "core/base/text.h"
#include "core/engine/eval/features.h"

#include <cmath>

namespace parallax::eval {

namespace {

torch::Tensor unit(const torch::Tensor &rows)
{
    return torch::nn::functional::normalize(rows.to(torch::kFloat64),
                                            torch::nn::functional::NormalizeFuncOptions().p(2).dim(1));
}

double effectiveRank(const torch::Tensor &features)
{
    const torch::Tensor values = torch::linalg_svdvals(features.to(torch::kFloat64));
    const double sum = values.sum().item<double>();
    if (!(sum > 0)) return FeatureQuality::unknown;
    const torch::Tensor share = values / sum;
    return std::exp(torch::special::entr(share).sum().item<double>());
}

} // namespace

FeatureQuality featureQuality(const torch::Tensor &features, const torch::Tensor &other)
{
    const torch::NoGradGuard noGrad;
    TORCH_CHECK(features.dim() == 2 && features.sizes() == other.sizes(), "Two views' features have one shape [n, D], not ",
                features.sizes(), " and ", other.sizes());
    FeatureQuality quality;
    quality.images = features.size(0);
    if (quality.images == 0 || !features.isfinite().all().item<bool>() || !other.isfinite().all().item<bool>())
        return quality;
    const torch::Tensor a = unit(features.cpu()), b = unit(other.cpu());
    quality.alignment = (a - b).square().sum(1).mean().item<double>();
    quality.spread = a.std(0, /*unbiased=*/false).mean().item<double>() * std::sqrt(double(a.size(1)));
    quality.rankme = effectiveRank(features.cpu());
    if (quality.images < 2) return quality;
    const double n = double(quality.images), pairs = n * (n - 1);
    const torch::Tensor cosine = torch::matmul(a, a.t()), self = cosine.diagonal();
    quality.meanCosine = (cosine.sum() - self.sum()).item<double>() / pairs;
    // |x - y|² of rows with the lengths |x|² = 1, or 0 for a row of zeros.
    const torch::Tensor squared = (self.unsqueeze(0) + self.unsqueeze(1) - 2 * cosine).clamp_min(0);
    const torch::Tensor kernel = (-2 * squared).exp();
    quality.uniformity = std::log((kernel.sum() - kernel.diagonal().sum()).item<double>() / pairs);
    return quality;
}

FeatureQuality measureQuality(methods::Method &method, const std::shared_ptr<const data::Dataset> &data,
                              const data::AugmentConfig &augment, std::int64_t limit, std::int64_t batchSize, int threads,
                              const dist::Ranks &ranks)
{
    ExtractOptions options;
    options.augment = augment;
    options.views = {{augment}, {augment}};
    options.index = evenly(data->size(), limit);
    options.batchSize = batchSize;
    options.threads = threads;
    const FeatureSet set = extractFeatures(method, data, ranks, options);
    const torch::Tensor kept = (set.replaced == 0).nonzero().flatten();
    return featureQuality(set.features.index_select(0, kept), set.more.at(0).index_select(0, kept));
}

std::vector<std::string> alarms(const FeatureQuality &quality)
{
    constexpr double collapsed = 0.02; // an untrained network's features spread over a third and more
    constexpr double lowestRank = 1.5; // and have a rank of 5 and more
    std::vector<std::string> said;
    const std::string cure = ". Lower the learning rate; of a method without negatives check predictor and momentum; or "
                             "check that the images differ";
    if (quality.images < 2) return said;
    if (std::isnan(quality.spread))
        said.push_back(
            "The features are NaN or infinite: the network is of no use any more. Go back to an earlier checkpoint "
            "and lower the learning rate");
    else if (quality.spread < collapsed)
        said.push_back("The features have collapsed: they spread over " + text::fixed(100 * quality.spread, 2) +
                       " % of what even ones would, the mean cosine of two images is " + text::fixed(quality.meanCosine, 4) +
                       cure);
    else if (quality.rankme < lowestRank)
        said.push_back("The features have collapsed to a line: their effective rank is " + text::fixed(quality.rankme, 2) +
                       cure);
    return said;
}

} // namespace parallax::eval
