// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/vicregl.h"

#include "core/engine/losses/tensors.h"

namespace parallax::losses {

namespace {

/// Places of a crop: x [n, m, d] with their positions [n, m, k] in the space where neighbours are sought.
struct Places {
    torch::Tensor x, position;
};

/// VICReg between the `matches` places of `from` that lie closest to a place of `to`, and those places.
torch::Tensor matched(const Places &from, const Places &to, std::int64_t matches, const VicRegOptions &options,
                      const dist::Ranks &ranks)
{
    torch::Tensor chosen, nearest; // [n, matches, d], indices for gather
    {
        torch::NoGradGuard noGrad;
        const std::int64_t places = from.x.size(1);
        const auto [distance, index] = torch::cdist(from.position, to.position).min(2);
        const std::int64_t kept = matches < 0 ? places : std::min(matches, places);
        const torch::Tensor best = std::get<1>(distance.topk(kept, 1, /*largest=*/false));
        chosen = best.unsqueeze(2).expand({-1, -1, from.x.size(2)});
        nearest = index.gather(1, best).unsqueeze(2).expand({-1, -1, from.x.size(2)});
    }
    return vicReg(from.x.gather(1, chosen), to.x.gather(1, nearest), options, ranks);
}

torch::Tensor localPart(const VicRegLView &a, const VicRegLView &b, const VicRegLOptions &options, const dist::Ranks &ranks)
{
    VicRegOptions terms = options.terms;
    terms.covariance *= 0.5;
    const torch::Tensor x = widened(a.map).flatten(1, 2), y = widened(b.map).flatten(1, 2);
    const Places byEmbedding[] = {{x, x.detach()}, {y, y.detach()}};
    const Places byLocation[] = {{x, widened(a.grid).flatten(1, 2)}, {y, widened(b.grid).flatten(1, 2)}};
    torch::Tensor sum = torch::zeros({}, x.options());
    for (const auto &places : {byEmbedding, byLocation})
        sum = sum + matched(places[0], places[1], options.matchesLarge, terms, ranks) +
            matched(places[1], places[0], options.matchesSmall, terms, ranks);
    return 0.5 * sum;
}

} // namespace

torch::Tensor vicRegL(const std::vector<VicRegLView> &high, const std::vector<VicRegLView> &low,
                      const VicRegLOptions &options, const dist::Ranks &ranks)
{
    TORCH_CHECK(!high.empty() && high.size() + low.size() > 1, "VICRegL needs two crops, one of them of full size");
    std::vector<VicRegLView> all = high;
    all.insert(all.end(), low.begin(), low.end());
    for (const auto &view : all)
        TORCH_CHECK(view.embedding.dim() == 2 && view.map.dim() == 4 && view.grid.dim() == 4 &&
                        view.embedding.sizes() == all[0].embedding.sizes() &&
                        view.map.sizes().slice(0, 3) == view.grid.sizes().slice(0, 3),
                    "VICRegL takes embeddings [n, d], maps [n, h, w, d] and grids [n, h, w, 2], not ",
                    view.embedding.sizes(), ", ", view.map.sizes(), " and ", view.grid.sizes());

    torch::Tensor invariance = torch::zeros({}, widened(all[0].embedding).options());
    torch::Tensor local = invariance, variance = invariance, covariance = invariance;
    for (std::size_t i = 0; i < high.size(); ++i)
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (i == j) continue;
            const torch::Tensor difference = widened(all[i].embedding) - widened(all[j].embedding);
            invariance = invariance + rankMean(difference.square(), ranks);
            local = local + localPart(all[i], all[j], options, ranks);
        }
    for (const auto &view : all) {
        const torch::Tensor rows = ranks.gather(widened(view.embedding));
        variance = variance + varianceTerm(rows, options.terms.eps);
        covariance = covariance + covarianceTerm(rows);
    }
    const double pairs = double(high.size() * (all.size() - 1)), views = double(all.size());
    const torch::Tensor global = options.terms.invariance * invariance / pairs + options.terms.variance * variance / views +
        options.terms.covariance * covariance / views;
    return options.alpha * global + (1 - options.alpha) * local / pairs;
}

} // namespace parallax::losses
