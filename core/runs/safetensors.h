// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The safetensors container: 8-byte little-endian header length, JSON header, tensor bytes. Nothing a file says is
/// believed before it is checked: lengths against the file's size, offsets against each other, shape × type against bytes.
namespace parallax::runs {

struct TensorInfo {
    std::string dtype; ///< "F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0; ///< bytes, from the end of the header
};

std::size_t dtypeBytes(const std::string &dtype); ///< 0: unknown

/// A file mapped read-only. Tensors keep the file's order.
class SafetensorsFile
{
public:
    static Result<SafetensorsFile> open(const std::filesystem::path &path);
    const std::vector<std::string> &names() const { return m_names; }
    const std::map<std::string, TensorInfo> &tensors() const { return m_tensors; }
    const std::map<std::string, std::string> &metadata() const { return m_metadata; }
    /// Bytes [begin, end) of the tensor. Files written here are aligned to the type; of others copy with memcpy.
    const std::byte *data(const TensorInfo &info) const { return m_data + info.begin; }

private:
    /// What is wrong with the header, if anything.
    std::optional<std::string> readHeader(std::string_view header, std::uint64_t dataBytes);

    std::shared_ptr<void> m_map; ///< unmaps at the end
    const std::byte *m_data = nullptr;
    std::vector<std::string> m_names;
    std::map<std::string, TensorInfo> m_tensors;
    std::map<std::string, std::string> m_metadata;
};

struct TensorView {
    std::string name, dtype;
    std::vector<std::int64_t> shape;
    const void *data = nullptr;
};
/// Written atomically (AtomicFile).
Status writeSafetensors(const std::filesystem::path &path, const std::vector<TensorView> &tensors,
                        const std::map<std::string, std::string> &metadata = {});

} // namespace parallax::runs
