// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/safetensors.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/json/strict.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace parallax::runs {

using json::Json;

namespace {

constexpr std::size_t lengthBytes = 8;
constexpr std::uint64_t largestHeader = 100'000'000; // the format's own limit
constexpr char metadataName[] = "__metadata__";
static_assert(std::endian::native == std::endian::little, "tensor bytes are little-endian, and are used as they lie");

std::string quoted(const std::string &name)
{
    return '"' + text::printable(name.substr(0, 80)) + (name.size() > 80 ? "…" : "") + '"';
}

/// Elements × bytes each; nothing when it does not fit. Sizes of 0 do not excuse the other ones: whoever takes the shape
/// multiplies them too.
std::optional<std::uint64_t> tensorBytes(const std::vector<std::int64_t> &shape, std::size_t elementBytes)
{
    std::int64_t product = static_cast<std::int64_t>(elementBytes);
    bool empty = false;
    for (const std::int64_t size : shape) {
        empty = empty || size == 0;
        if (__builtin_mul_overflow(product, std::max<std::int64_t>(size, 1), &product)) return {};
    }
    return empty ? 0 : static_cast<std::uint64_t>(product);
}

/// One entry of the header; the text of the Error's `what` goes on after the tensor's name.
Result<TensorInfo> readEntry(const Json &entry, std::uint64_t dataBytes)
{
    if (!entry.is_object()) return Error{"is not described by an object", {}, {}};
    const auto dtype = entry.find("dtype"), shape = entry.find("shape"), offsets = entry.find("data_offsets");
    if (dtype == entry.end() || shape == entry.end() || offsets == entry.end())
        return Error{"lacks one of dtype, shape, data_offsets", {}, {}};
    TensorInfo info;
    if (dtype->is_string()) info.dtype = dtype->get<std::string>();
    if (dtypeBytes(info.dtype) == 0)
        return Error{"has an unknown type: " + text::printable(dtype->dump(-1, ' ', true).substr(0, 40)), {}, {}};

    if (!shape->is_array()) return Error{"has a shape that is not a list", {}, {}};
    for (const Json &size : *shape) {
        if (!size.is_number_unsigned() || size.get<std::uint64_t>() > std::uint64_t(INT64_MAX))
            return Error{
                "has a size that is not a whole number from 0: " + text::printable(size.dump().substr(0, 40)), {}, {}};
        info.shape.push_back(size.get<std::int64_t>());
    }
    if (!offsets->is_array() || offsets->size() != 2 || !(*offsets)[0].is_number_unsigned() ||
        !(*offsets)[1].is_number_unsigned())
        return Error{"has data_offsets that are not two whole numbers from 0", {}, {}};
    info.begin = (*offsets)[0].get<std::uint64_t>();
    info.end = (*offsets)[1].get<std::uint64_t>();
    if (info.begin > info.end || info.end > dataBytes)
        return Error{"claims bytes " + std::to_string(info.begin) + " to " + std::to_string(info.end) + " of " +
                         std::to_string(dataBytes),
                     {},
                     {}};
    const auto needed = tensorBytes(info.shape, dtypeBytes(info.dtype));
    if (!needed || *needed != info.end - info.begin)
        return Error{"has " + std::to_string(info.end - info.begin) + " bytes, but its shape and type need " +
                         (needed ? std::to_string(*needed) : std::string("more than there can be")),
                     {},
                     {}};
    return info;
}

/// Every byte must belong to exactly one tensor. Returns what is wrong.
std::optional<std::string> findHoleOrOverlap(const std::map<std::string, TensorInfo> &tensors, std::uint64_t dataBytes)
{
    std::vector<std::pair<const std::string *, const TensorInfo *>> order;
    order.reserve(tensors.size());
    for (const auto &[name, info] : tensors) order.emplace_back(&name, &info);
    std::ranges::sort(order, {}, [](const auto &entry) { return std::pair(entry.second->begin, entry.second->end); });
    std::uint64_t reached = 0;
    for (const auto &[name, info] : order) {
        if (info->begin < reached) return "tensor " + quoted(*name) + " overlaps another";
        if (info->begin > reached) return "bytes before tensor " + quoted(*name) + " belong to none";
        reached = info->end;
    }
    if (reached != dataBytes) return std::to_string(dataBytes - reached) + " bytes after the last tensor belong to none";
    return {};
}

} // namespace

std::size_t dtypeBytes(const std::string &dtype)
{
    static const std::map<std::string, std::size_t> sizes{{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
                                                          {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U8", 1},   {"BOOL", 1}};
    const auto found = sizes.find(dtype);
    return found == sizes.end() ? 0 : found->second;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path &path)
{
    SafetensorsFile file;
    const std::string where = text::printable(path.string());
    const auto refuse = [&where](const std::string &what) {
        return Error{"is not a sound safetensors file: " + what, where, "It may be cut short, or of another kind"};
    };
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return systemError(errno, path, "read");
    struct stat info {
    };
    const bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const std::size_t size = regular ? static_cast<std::size_t>(info.st_size) : 0;
    void *map = size >= lengthBytes ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
    const int reason = errno;
    ::close(fd);
    if (!regular) return refuse("it is not a regular file");
    if (size < lengthBytes) return refuse("it has " + std::to_string(size) + " bytes");
    if (map == MAP_FAILED) return systemError(reason, path, "read");
    file.m_map = std::shared_ptr<void>(map, [size](void *start) { ::munmap(start, size); });

    std::uint64_t headerBytes = 0;
    std::memcpy(&headerBytes, map, lengthBytes);
    if (headerBytes > size - lengthBytes)
        return refuse("it says that its header has " + std::to_string(headerBytes) + " bytes; " +
                      std::to_string(size - lengthBytes) + " are there");
    if (headerBytes > largestHeader) return refuse("its header is larger than 100 MB");
    const char *header = static_cast<const char *>(map) + lengthBytes;
    if (auto problem = file.readHeader({header, headerBytes}, size - lengthBytes - headerBytes)) return refuse(*problem);
    file.m_data = reinterpret_cast<const std::byte *>(header + headerBytes);
    return file;
}

std::optional<std::string> SafetensorsFile::readHeader(std::string_view header, std::uint64_t dataBytes)
{
    auto parsed = json::parse(header, {.depth = 4, .keyBytes = 4'000});
    if (const auto *problem = std::get_if<json::Problem>(&parsed)) return "its header " + problem->what;
    const Json &json = std::get<Json>(parsed);
    if (!json.is_object()) return "its header is not an object";
    for (const auto &[name, entry] : json.items()) {
        if (name == metadataName) {
            if (!entry.is_object()) return "its metadata are not an object";
            for (const auto &[key, value] : entry.items()) {
                if (!value.is_string()) return "metadata " + quoted(key) + " is not text";
                m_metadata.emplace(key, value.get<std::string>());
            }
            continue;
        }
        auto info = readEntry(entry, dataBytes);
        if (!info) return "tensor " + quoted(name) + ' ' + info.error().what;
        m_names.push_back(name);
        m_tensors.emplace(name, std::move(*info));
    }
    return findHoleOrOverlap(m_tensors, dataBytes);
}

} // namespace parallax::runs
