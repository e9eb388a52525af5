// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

/// embeddings/epoch-N/ of a run:
///   vectors.safetensors   "features" F32 [N, D]
///   items.jsonl           a line an item: {"id", "path", "label" (-1: none), "split"}
///   meta.json             {"format": 1, "count", "dim", "epoch", "step", "classes": […], "source", "thumb": {"size", "columns", "per_file"}}
///   thumbs-K.png          tiles of thumb.size² RGB, `columns` a row, `per_file` items a file, in item order
///   map-….safetensors     maps drawn since (mapstore.h)
/// Written to epoch-N.part and renamed when whole.
namespace parallax::embedding {

struct Item {
    std::uint64_t id = 0; ///< stable: of the item, not of its place
    std::string path;     ///< as the data set names it: "class0/00.jpg", "t10k-01352"
    int label = -1;
    std::string split; ///< "train", "val"
};

struct Meta {
    std::int64_t count = 0, dim = 0, step = 0;
    int epoch = 0;
    std::vector<std::string> classes;
    std::string source;
    int thumbSize = 0, thumbColumns = 0, thumbsPerFile = 0; ///< 0: no thumbnails
};

/// A finished folder, vectors memory-mapped.
class Store
{
public:
    static Result<Store> open(const std::filesystem::path &folder);
    const Meta &meta() const { return m_meta; }
    const std::vector<Item> &items() const { return m_items; }
    /// [count, dim], row-major.
    const float *vectors() const { return m_vectors; }
    std::filesystem::path folder() const { return m_folder; }
    std::filesystem::path thumbFile(std::int64_t item) const;
    /// Top left pixel of the item's tile in that file.
    std::pair<int, int> thumbOrigin(std::int64_t item) const;

private:
    std::filesystem::path m_folder;
    Meta m_meta;
    std::vector<Item> m_items;
    std::shared_ptr<void> m_map;
    const float *m_vectors = nullptr;
};

/// Writes vectors, items and meta of a folder (thumbnails are drawn by the engine, which has the pixels).
Status writeStore(const std::filesystem::path &part, const Meta &meta, const std::vector<Item> &items, const float *vectors);

} // namespace parallax::embedding
