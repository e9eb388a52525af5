// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/embedding/recipe.h"
#include "core/embedding/store.h"

/// Maps beside the vectors they show, embeddings/epoch-N/map-<method>-<hash of the recipe>.safetensors: "positions" F32 [N, 2], NaN
/// for what is in no place; metadata "format", "recipe" (MapRecipe::text), "vectors" (count, dim and checksum), "explained" (the
/// principal components' shares of variance). A file can be removed at will: it is drawn again.
namespace parallax::embedding {

std::filesystem::path mapFile(const std::filesystem::path &folder, const MapRecipe &recipe);

/// Nothing where there is none, it is damaged, or it shows other vectors.
std::optional<Projection> readMap(const Store &store, const MapRecipe &recipe);
Status writeMap(const Store &store, const MapRecipe &recipe, const Projection &map);

/// Another epoch's stored map of the same recipe.
struct OtherMap {
    int epoch = 0;
    std::vector<float> xy; ///< [count of `store`, 2] by the items' ids; NaN for items that it does not show
};
/// The nearest earlier epoch of the same run that has one; with `later`, the nearest later one.
std::optional<OtherMap> nearestMap(const Store &store, const MapRecipe &recipe, bool later = false);

struct EpochMap {
    Projection map;
    bool wasStored = false;
    std::optional<int> alignedTo; ///< the epoch; of maps drawn now
    Status stored;                ///< why a map drawn now could not be kept: it is drawn again next time
};

/// The epoch's map: the stored one, or it is drawn and stored. Maps by UMAP start from the nearest earlier epoch's and are aligned
/// with it, so that points keep their sides from epoch to epoch. Where only later ones are stored, a map is aligned with the nearest
/// of them but does not start from it: it would show groups that the network did not know yet. Principal components stay
/// as they are. `work.watch` gets aligned places; `work.start` is not used.
Result<EpochMap> epochMap(const Store &store, const MapRecipe &recipe, const MapWork &work = {});

} // namespace parallax::embedding
