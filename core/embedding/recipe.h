// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/maps.h"

#include <optional>
#include <string>

namespace parallax::embedding {

enum class MapMethod { Pca, Umap };
/// "pca", "umap"
std::string nameOf(MapMethod method);
std::optional<MapMethod> mapMethod(const std::string &name);

/// All that a map of given vectors depends on.
struct MapRecipe {
    MapMethod method = MapMethod::Umap;
    Metric metric = Metric::Cosine;
    std::uint64_t seed = 1;
    int epochs = 0;       ///< steps over all points; 0: chosen by the method
    int neighbours = 15;  ///< UMAP
    double minDist = 0.1; ///< UMAP

    /// JSON of what the method uses, the same text for the same map.
    std::string text() const;
};

/// How a map is drawn; what comes out does not depend on it, but for `start`.
struct MapWork {
    int threads = 0; ///< 0: one a core
    const std::atomic<bool> *cancel = nullptr;
    MapWatch watch;           ///< not called by the principal components
    std::vector<float> start; ///< as in MapOptions; not used by the principal components
};

Result<Projection> drawMap(const float *vectors, std::int64_t count, std::int64_t dim, const MapRecipe &recipe,
                           const MapWork &work = {});

} // namespace parallax::embedding
