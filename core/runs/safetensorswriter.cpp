// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/safetensors.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <set>

namespace parallax::runs {

namespace {

using Json = nlohmann::ordered_json;

/// Bytes of a view; an Error for what no file can say.
Result<std::uint64_t> bytesOf(const TensorView &tensor)
{
    const auto refuse = [&tensor](const std::string &what) {
        return Error{"tensor \"" + text::printable(tensor.name) + "\" " + what, {}, {}};
    };
    if (tensor.name.empty() || tensor.name == "__metadata__" || !text::isUtf8(tensor.name))
        return refuse("has a name that cannot be stored");
    std::uint64_t bytes = dtypeBytes(tensor.dtype);
    if (bytes == 0) return refuse("has an unknown type: " + text::printable(tensor.dtype));
    for (const std::int64_t size : tensor.shape)
        if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
            return refuse("has no possible shape");
    if (bytes > 0 && !tensor.data) return refuse("has no data");
    return bytes;
}

/// Largest elements first, so that each tensor begins at a multiple of its element's size and can be used as it lies.
std::vector<std::size_t> dataOrder(const std::vector<TensorView> &tensors)
{
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return dtypeBytes(tensors[i].dtype); });
    return order;
}

std::string headerOf(const std::vector<TensorView> &tensors, const std::vector<std::uint64_t> &begin,
                     const std::vector<std::uint64_t> &bytes, const std::map<std::string, std::string> &metadata)
{
    Json::object_t header;
    if (!metadata.empty()) header.emplace_back("__metadata__", Json(metadata));
    for (std::size_t i = 0; i < tensors.size(); ++i)
        header.emplace_back(tensors[i].name,
                            Json{{"dtype", tensors[i].dtype},
                                 {"shape", tensors[i].shape},
                                 {"data_offsets", {begin[i], begin[i] + bytes[i]}}});
    std::string text = Json(std::move(header)).dump(-1, ' ', false, Json::error_handler_t::replace);
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

} // namespace

Status writeSafetensors(const std::filesystem::path &path, const std::vector<TensorView> &tensors,
                        const std::map<std::string, std::string> &metadata)
{
    const std::string where = text::printable(path.string());
    std::vector<std::uint64_t> bytes(tensors.size()), begin(tensors.size());
    std::set<std::string> names;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const auto size = bytesOf(tensors[i]);
        if (!size) return Error{size.error().what, where, {}};
        bytes[i] = *size;
        if (!names.insert(tensors[i].name).second)
            return Error{"tensor \"" + text::printable(tensors[i].name) + "\" is there twice", where, {}};
    }
    const std::vector<std::size_t> order = dataOrder(tensors);
    std::uint64_t reached = 0;
    for (const std::size_t i : order) {
        begin[i] = reached;
        reached += bytes[i];
    }

    const std::string header = headerOf(tensors, begin, bytes, metadata);
    const std::uint64_t headerBytes = header.size();
    auto file = AtomicFile::create(path);
    if (!file) return file.error();
    if (auto written = file->write(&headerBytes, sizeof headerBytes); !written) return written;
    if (auto written = file->write(header.data(), header.size()); !written) return written;
    for (const std::size_t i : order)
        if (auto written = file->write(tensors[i].data, bytes[i]); !written) return written;
    return file->commit();
}

} // namespace parallax::runs
