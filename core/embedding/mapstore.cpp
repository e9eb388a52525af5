// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/mapstore.h"

#include "core/embedding/align.h"
#include "core/runs/runfolder.h"
#include "core/runs/safetensors.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace parallax::embedding {
namespace {

constexpr const char *formatVersion = "1";

std::string checksum(const void *data, std::size_t bytes)
{
    std::string text;
    for (std::uint64_t hash = XXH3_64bits(data, bytes), digit = 0; digit < 16; ++digit, hash <<= 4)
        text += "0123456789abcdef"[hash >> 60];
    return text;
}

/// Tells whether a map shows these vectors.
std::string stamp(const Store &store)
{
    const auto count = store.meta().count, dim = store.meta().dim;
    return std::to_string(count) + " x " + std::to_string(dim) + " " +
        checksum(store.vectors(), std::size_t(count * dim) * sizeof(float));
}

std::string entry(const std::map<std::string, std::string> &metadata, const char *key)
{
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
}

/// Places are finite, or NaN in both coordinates.
bool usable(const std::vector<float> &xy)
{
    for (std::size_t i = 0; i < xy.size(); i += 2)
        if (std::isinf(xy[i]) || std::isinf(xy[i + 1]) || std::isnan(xy[i]) != std::isnan(xy[i + 1])) return false;
    return true;
}

} // namespace

std::filesystem::path mapFile(const std::filesystem::path &folder, const MapRecipe &recipe)
{
    const std::string text = recipe.text();
    return folder /
        ("map-" + nameOf(recipe.method) + "-" + checksum(text.data(), text.size()).substr(0, 8) + ".safetensors");
}

std::optional<Projection> readMap(const Store &store, const MapRecipe &recipe)
{
    const auto file = runs::SafetensorsFile::open(mapFile(store.folder(), recipe));
    if (!file) return {};
    const auto positions = file->tensors().find("positions");
    const std::vector<std::int64_t> shape{store.meta().count, 2};
    if (entry(file->metadata(), "format") != formatVersion || entry(file->metadata(), "recipe") != recipe.text() ||
        positions == file->tensors().end() || positions->second.dtype != "F32" || positions->second.shape != shape ||
        entry(file->metadata(), "vectors") != stamp(store))
        return {};
    Projection map;
    map.xy.resize(std::size_t(shape[0]) * 2);
    if (!map.xy.empty()) std::memcpy(map.xy.data(), file->data(positions->second), map.xy.size() * sizeof(float));
    if (!usable(map.xy)) return {};
    for (std::size_t i = 0; i < map.xy.size(); i += 2) map.skipped += std::isnan(map.xy[i]) ? 1 : 0;
    const auto explained = nlohmann::json::parse(entry(file->metadata(), "explained"), nullptr, false);
    if (explained.is_array())
        for (const auto &share : explained)
            if (share.is_number()) map.explained.push_back(share.get<double>());
    return map;
}

Status writeMap(const Store &store, const MapRecipe &recipe, const Projection &map)
{
    const auto path = mapFile(store.folder(), recipe);
    if (std::int64_t(map.xy.size()) != store.meta().count * 2)
        return Error{"The map has " + std::to_string(map.xy.size() / 2) + " places for " +
                         std::to_string(store.meta().count) + " vectors",
                     path.string(),
                     {}};
    return runs::writeSafetensors(path, {{"positions", "F32", {store.meta().count, 2}, map.xy.data()}},
                                  {{"format", formatVersion},
                                   {"recipe", recipe.text()},
                                   {"vectors", stamp(store)},
                                   {"explained", nlohmann::json(map.explained).dump()}});
}

std::optional<OtherMap> nearestMap(const Store &store, const MapRecipe &recipe, bool later)
{
    const runs::RunFolder run(store.folder().parent_path().parent_path());
    std::vector<int> epochs = run.listEmbeddings();
    std::erase_if(epochs, [&](int epoch) { return later ? epoch <= store.meta().epoch : epoch >= store.meta().epoch; });
    if (!later) std::reverse(epochs.begin(), epochs.end());
    for (const int epoch : epochs) {
        std::error_code ec;
        if (!std::filesystem::exists(mapFile(run.embeddings(epoch), recipe), ec)) continue;
        const auto other = Store::open(run.embeddings(epoch));
        const auto map = other ? readMap(*other, recipe) : std::nullopt;
        if (!map) continue;
        std::unordered_map<std::uint64_t, std::size_t> places;
        for (std::size_t i = 0; i < other->items().size(); ++i) places.try_emplace(other->items()[i].id, i);
        OtherMap found{epoch, std::vector<float>(store.items().size() * 2, std::numeric_limits<float>::quiet_NaN())};
        for (std::size_t i = 0; i < store.items().size(); ++i)
            if (const auto it = places.find(store.items()[i].id); it != places.end())
                std::copy_n(map->xy.begin() + std::ptrdiff_t(it->second) * 2, 2, found.xy.begin() + std::ptrdiff_t(i) * 2);
        return found;
    }
    return {};
}

Result<EpochMap> epochMap(const Store &store, const MapRecipe &recipe, const MapWork &work)
{
    EpochMap result;
    if (auto stored = readMap(store, recipe)) {
        result.map = std::move(*stored);
        result.wasStored = true;
        return result;
    }
    std::optional<OtherMap> other;
    MapWork how = work;
    how.start.clear();
    if (recipe.method != MapMethod::Pca) {
        other = nearestMap(store, recipe);
        if (other)
            how.start = other->xy;
        else
            other = nearestMap(store, recipe, true);
    }
    const auto align = [&](std::vector<float> &xy) {
        if (other) alignment(xy, other->xy).apply(xy);
    };
    if (work.watch && other)
        how.watch = [&](double done, const std::vector<float> &xy) {
            std::vector<float> aligned = xy;
            align(aligned);
            work.watch(done, aligned);
        };
    auto map = drawMap(store.vectors(), store.meta().count, store.meta().dim, recipe, how);
    if (!map) return map.error();
    result.map = std::move(*map);
    align(result.map.xy);
    if (other) result.alignedTo = other->epoch;
    result.stored = writeMap(store, recipe, result.map);
    return result;
}

} // namespace parallax::embedding
