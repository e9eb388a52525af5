// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/recipe.h"

#include "core/embedding/umap.h"

#include <nlohmann/json.hpp>

#include <array>

namespace parallax::embedding {
namespace {

struct Name {
    MapMethod method;
    const char *name;
};
constexpr std::array names{Name{MapMethod::Pca, "pca"}, Name{MapMethod::Umap, "umap"}};

template<class Options>
Options common(const MapRecipe &recipe, const MapWork &work)
{
    Options options;
    options.metric = recipe.metric;
    options.seed = recipe.seed;
    options.threads = work.threads;
    options.cancel = work.cancel;
    options.watch = work.watch;
    options.start = work.start;
    options.epochs = recipe.epochs;
    return options;
}

} // namespace

std::string nameOf(MapMethod method)
{
    for (const auto &[candidate, name] : names)
        if (candidate == method) return name;
    return {};
}

std::optional<MapMethod> mapMethod(const std::string &name)
{
    for (const auto &[method, candidate] : names)
        if (name == candidate) return method;
    return {};
}

std::string MapRecipe::text() const
{
    nlohmann::ordered_json json{{"method", nameOf(method)}};
    if (method == MapMethod::Pca) return json.dump();
    json["metric"] = metric == Metric::Cosine ? "cosine" : "euclidean";
    json["seed"] = seed;
    json["epochs"] = epochs;
    json["neighbours"] = neighbours;
    json["min_dist"] = minDist;
    return json.dump();
}

Result<Projection> drawMap(const float *vectors, std::int64_t count, std::int64_t dim, const MapRecipe &recipe,
                           const MapWork &work)
{
    if (recipe.method == MapMethod::Pca) return pca(vectors, count, dim, work.cancel);
    auto options = common<UmapOptions>(recipe, work);
    options.neighbours = recipe.neighbours;
    options.minDist = recipe.minDist;
    return umap(vectors, count, dim, options);
}

} // namespace parallax::embedding
