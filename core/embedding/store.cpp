// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/embedding/store.h"

#include "core/base/atomicfile.h"
#include "core/runs/safetensors.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <limits>

namespace parallax::embedding {
namespace {

using Json = nlohmann::ordered_json;

constexpr int formatVersion = 1;
/// A tile atlas stays below what an image reader takes: 1,024 tiles of 48 px are 1,536 px a side.
constexpr int largestTile = 1024, largestAtlas = 1 << 16;

Error storeError(std::string what, const std::filesystem::path &where)
{
    return {std::move(what), where.string(), "Compute the embeddings again: parallax embed RUN"};
}

/// An integer of `json` within [low, high], or nothing: a file's figures are never believed unchecked.
std::optional<std::int64_t> integer(const Json &json, const char *key, std::int64_t low, std::int64_t high)
{
    const auto it = json.find(key);
    if (it == json.end() || !it->is_number_integer()) return {};
    if (it->is_number_unsigned() && it->get<std::uint64_t>() > std::uint64_t(high)) return {};
    const auto value = it->get<std::int64_t>();
    if (value < low || value > high) return {};
    return value;
}

std::string string(const Json &json, const char *key)
{
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

Status readThumbs(const Json &json, const std::filesystem::path &file, Meta &meta)
{
    const auto it = json.find("thumb");
    if (it == json.end() || it->is_null()) return {};
    const auto size = integer(*it, "size", 1, largestTile);
    const auto columns = integer(*it, "columns", 1, largestAtlas);
    const auto perFile = integer(*it, "per_file", 1, std::int64_t(1) << 24);
    if (!it->is_object() || !size || !columns || !perFile || *size * *columns > largestAtlas)
        return storeError("\"thumb\" does not give a usable size, columns and per_file", file);
    meta.thumbSize = int(*size);
    meta.thumbColumns = int(*columns);
    meta.thumbsPerFile = int(*perFile);
    return {};
}

Result<Meta> readMeta(const std::filesystem::path &file)
{
    const auto text = readFile(file, std::size_t(64) << 20);
    if (!text) return text.error();
    const auto json = Json::parse(*text, nullptr, false);
    if (!json.is_object()) return storeError("Not a JSON object", file);
    const auto format = integer(json, "format", 0, std::numeric_limits<int>::max());
    if (format != formatVersion)
        return Error{"Embeddings of format " + (format ? std::to_string(*format) : "?") + "; this program reads format " +
                         std::to_string(formatVersion),
                     file.string(), "Open them with the version of Parallax that wrote them, or compute them again"};
    Meta meta;
    const auto count = integer(json, "count", 0, std::int64_t(1) << 40);
    const auto dim = integer(json, "dim", 1, std::int64_t(1) << 24);
    if (!count || !dim) return storeError("\"count\" or \"dim\" is missing or not a positive integer", file);
    meta.count = *count;
    meta.dim = *dim;
    meta.epoch = int(integer(json, "epoch", 0, std::numeric_limits<int>::max()).value_or(0));
    meta.step = integer(json, "step", 0, std::numeric_limits<std::int64_t>::max()).value_or(0);
    meta.source = string(json, "source");
    if (const auto it = json.find("classes"); it != json.end() && it->is_array())
        for (const auto &name : *it) meta.classes.push_back(name.is_string() ? name.get<std::string>() : name.dump());
    if (const auto thumbs = readThumbs(json, file, meta); !thumbs) return thumbs.error();
    return meta;
}

std::optional<Item> readItem(std::string_view line)
{
    const auto json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return {};
    Item item;
    const auto id = json.find("id");
    if (id == json.end() || !id->is_number_unsigned()) return {};
    item.id = id->get<std::uint64_t>();
    item.path = string(json, "path");
    item.split = string(json, "split");
    const auto label = integer(json, "label", -1, std::numeric_limits<int>::max());
    if (!label) return {};
    item.label = int(*label);
    return item;
}

Result<std::vector<Item>> readItems(const std::filesystem::path &file, const Meta &meta)
{
    const auto text = readFile(file, std::size_t(4) << 30);
    if (!text) return text.error();
    std::vector<Item> items;
    std::string_view rest = *text;
    while (!rest.empty()) {
        const auto end = rest.find('\n');
        const auto line = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (line.empty()) continue;
        auto item = readItem(line);
        const auto place = "line " + std::to_string(items.size() + 1);
        if (!item) return storeError("Not an item: " + place, file);
        if (!meta.classes.empty() && item->label >= int(meta.classes.size()))
            return storeError("Label " + std::to_string(item->label) + " in " + place + ", but there are only " +
                                  std::to_string(meta.classes.size()) + " classes",
                              file);
        items.push_back(std::move(*item));
    }
    if (std::int64_t(items.size()) != meta.count)
        return storeError(
            "Holds " + std::to_string(items.size()) + " items where meta.json says " + std::to_string(meta.count), file);
    return items;
}

} // namespace

Result<Store> Store::open(const std::filesystem::path &folder)
{
    std::error_code ec;
    if (!std::filesystem::is_directory(folder, ec))
        return Error{"There are no embeddings here", folder.string(), "Compute them: parallax embed RUN"};
    auto meta = readMeta(folder / "meta.json");
    if (!meta) return meta.error();
    Store store;
    store.m_folder = folder;
    store.m_meta = std::move(*meta);
    auto items = readItems(folder / "items.jsonl", store.m_meta);
    if (!items) return items.error();
    store.m_items = std::move(*items);

    const auto file = folder / "vectors.safetensors";
    auto tensors = runs::SafetensorsFile::open(file);
    if (!tensors) return tensors.error();
    const auto it = tensors->tensors().find("features");
    const std::vector<std::int64_t> shape{store.m_meta.count, store.m_meta.dim};
    if (it == tensors->tensors().end() || it->second.dtype != "F32" || it->second.shape != shape)
        return storeError("Needs a tensor \"features\" of type F32 and shape [" + std::to_string(shape[0]) + ", " +
                              std::to_string(shape[1]) + "], as meta.json says",
                          file);
    const std::byte *data = tensors->data(it->second);
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(float) == 0) {
        store.m_map = std::make_shared<runs::SafetensorsFile>(std::move(*tensors));
        store.m_vectors = reinterpret_cast<const float *>(data);
    } else { // another writer's header need not be padded
        auto copy = std::make_shared<std::vector<float>>(std::size_t(shape[0] * shape[1]));
        std::memcpy(copy->data(), data, copy->size() * sizeof(float));
        store.m_vectors = copy->data();
        store.m_map = std::move(copy);
    }
    return store;
}

std::filesystem::path Store::thumbFile(std::int64_t item) const
{
    if (m_meta.thumbsPerFile == 0) return {};
    return m_folder / ("thumbs-" + std::to_string(item / m_meta.thumbsPerFile) + ".png");
}

std::pair<int, int> Store::thumbOrigin(std::int64_t item) const
{
    if (m_meta.thumbsPerFile == 0) return {0, 0};
    const int tile = int(item % m_meta.thumbsPerFile);
    return {tile % m_meta.thumbColumns * m_meta.thumbSize, tile / m_meta.thumbColumns * m_meta.thumbSize};
}

Status writeStore(const std::filesystem::path &part, const Meta &meta, const std::vector<Item> &items, const float *vectors)
{
    if (std::int64_t(items.size()) != meta.count || meta.dim < 1)
        return Error{"Got " + std::to_string(items.size()) + " items for " + std::to_string(meta.count) + " vectors of " +
                         std::to_string(meta.dim) + " numbers",
                     part.string(),
                     {}};
    std::error_code ec;
    std::filesystem::create_directories(part, ec);
    if (ec) return Error{"Cannot make the folder: " + ec.message(), part.string(), {}};

    if (auto status =
            runs::writeSafetensors(part / "vectors.safetensors", {{"features", "F32", {meta.count, meta.dim}, vectors}});
        !status)
        return status;

    // Paths come from file systems, which promise no UTF-8: what is none becomes U+FFFD.
    const auto dump = [](const Json &json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
    std::string lines;
    for (const Item &item : items)
        lines += dump(Json{{"id", item.id}, {"path", item.path}, {"label", item.label}, {"split", item.split}}) + '\n';
    if (auto status = writeFileAtomic(part / "items.jsonl", lines); !status) return status;

    Json json{{"format", formatVersion}, {"count", meta.count},     {"dim", meta.dim},      {"epoch", meta.epoch},
              {"step", meta.step},       {"classes", meta.classes}, {"source", meta.source}};
    if (meta.thumbsPerFile > 0)
        json["thumb"] = {{"size", meta.thumbSize}, {"columns", meta.thumbColumns}, {"per_file", meta.thumbsPerFile}};
    return writeFileAtomic(part / "meta.json", dump(json) + '\n');
}

} // namespace parallax::embedding
