// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/weights.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <sstream>

namespace parallax::nn {

namespace {

struct TypeName {
    torch::Dtype dtype;
    const char *name;
};
constexpr std::array<TypeName, 10> typeNames{{{torch::kFloat64, "F64"},
                                              {torch::kFloat32, "F32"},
                                              {torch::kFloat16, "F16"},
                                              {torch::kBFloat16, "BF16"},
                                              {torch::kInt64, "I64"},
                                              {torch::kInt32, "I32"},
                                              {torch::kInt16, "I16"},
                                              {torch::kInt8, "I8"},
                                              {torch::kUInt8, "U8"},
                                              {torch::kBool, "BOOL"}}};

const char *nameOf(torch::Dtype dtype)
{
    for (const auto &type : typeNames)
        if (type.dtype == dtype) return type.name;
    return nullptr;
}

std::optional<torch::Dtype> dtypeOf(const std::string &name)
{
    for (const auto &type : typeNames)
        if (name == type.name) return type.dtype;
    return {};
}

std::string shapeText(const std::vector<std::int64_t> &shape)
{
    std::ostringstream stream;
    stream << torch::IntArrayRef(shape);
    return stream.str();
}

/// At most three names, and how many more there are.
std::string someNames(const std::vector<std::string> &names)
{
    std::vector<std::string> shown;
    for (const auto &name : names) {
        if (shown.size() == 3) break;
        shown.push_back(text::printable(name));
    }
    std::ostringstream stream;
    stream << text::join(shown, ", ");
    if (names.size() > shown.size()) stream << " and " << names.size() - shown.size() << " more";
    return stream.str();
}

/// The names of `module` and of the file must be the same: what is missing or left over would be a silent random start.
/// Fills `leftOut` with those that nobody misses.
Status checkNames(const NamedTensors &own, const runs::SafetensorsFile &file, const std::string &prefix,
                  const LoadOptions &options, std::vector<std::string> &leftOut)
{
    const auto mayStay = [&](const std::string &name) {
        return std::ranges::any_of(options.leftOut,
                                   [&](const std::string &start) { return name.starts_with(prefix + start); });
    };
    std::vector<std::string> missing, unknown;
    std::set<std::string> wanted;
    for (const auto &[name, tensor] : own) {
        wanted.insert(prefix + name);
        if (!file.tensors().count(prefix + name)) missing.push_back(prefix + name);
    }
    for (const auto &name : file.names())
        if (name.starts_with(prefix) && !wanted.count(name)) (mayStay(name) ? leftOut : unknown).push_back(name);
    if (!missing.empty())
        return Error{"The weights lack " + someNames(missing), {}, "Choose the network that these weights were saved from"};
    if (!unknown.empty())
        return Error{"The weights hold " + someNames(unknown) + ", which this network does not have",
                     {},
                     "Choose the network that these weights were saved from"};
    return {};
}

Status checkTensor(const std::string &name, const torch::Tensor &own, const torch::Tensor &read)
{
    if (own.sizes() != read.sizes())
        return Error{"The weights' " + name + " has the shape " + shapeText(read.sizes().vec()) + ", the network's " +
                         shapeText(own.sizes().vec()),
                     {},
                     "Choose the same network, stem and width"};
    if (own.is_floating_point() != read.is_floating_point())
        return Error{"The weights' " + name + " has the type " + nameOf(read.scalar_type()) + ", the network's " +
                         nameOf(own.scalar_type()),
                     {},
                     {}};
    return {};
}

} // namespace

NamedTensors stateDict(const torch::nn::Module &module)
{
    NamedTensors tensors;
    for (const auto &item : module.named_parameters()) tensors.emplace_back(item.key(), item.value());
    for (const auto &item : module.named_buffers()) tensors.emplace_back(item.key(), item.value());
    return tensors;
}

NamedTensors prefixed(const std::string &prefix, const NamedTensors &tensors)
{
    NamedTensors named;
    for (const auto &[name, tensor] : tensors) named.emplace_back(prefix + name, tensor);
    return named;
}

Status saveTensors(const std::filesystem::path &path, const NamedTensors &tensors,
                   const std::map<std::string, std::string> &metadata)
{
    std::vector<torch::Tensor> kept; // the views below point into these
    std::vector<runs::TensorView> views;
    for (const auto &[name, tensor] : tensors) {
        const char *type = nameOf(tensor.scalar_type());
        if (!type) return Error{"The tensor " + name + " has a type that safetensors files do not hold", path.string(), {}};
        kept.push_back(tensor.detach().cpu().contiguous());
        views.push_back({name, type, kept.back().sizes().vec(), kept.back().data_ptr()});
    }
    return runs::writeSafetensors(path, views, metadata);
}

Result<torch::Tensor> readTensor(const runs::SafetensorsFile &file, const std::string &name)
{
    const auto found = file.tensors().find(name);
    if (found == file.tensors().end()) return Error{"There is no tensor named " + text::printable(name), {}, {}};
    const auto dtype = dtypeOf(found->second.dtype);
    if (!dtype)
        return Error{
            "The tensor " + text::printable(name) + " has the unknown type " + text::printable(found->second.dtype), {}, {}};
    torch::Tensor tensor = torch::empty(found->second.shape, *dtype);
    if (tensor.numel() > 0) std::memcpy(tensor.data_ptr(), file.data(found->second), tensor.nbytes());
    return tensor;
}

Result<std::map<std::string, torch::Tensor>> readTensors(const runs::SafetensorsFile &file, const std::string &prefix)
{
    std::map<std::string, torch::Tensor> tensors;
    for (const auto &name : file.names()) {
        if (!name.starts_with(prefix)) continue;
        auto tensor = readTensor(file, name);
        if (!tensor) return tensor.error();
        tensors[name.substr(prefix.size())] = *tensor;
    }
    return tensors;
}

Result<LoadReport> loadState(torch::nn::Module &module, const runs::SafetensorsFile &file, const std::string &prefix,
                             const LoadOptions &options)
{
    const NamedTensors own = stateDict(module);
    std::vector<std::string> leftOut, adapted, notFinite, narrowed;
    if (auto status = checkNames(own, file, prefix, options, leftOut); !status) return status.error();
    std::vector<torch::Tensor> read;
    for (const auto &[name, tensor] : own) {
        auto value = readTensor(file, prefix + name);
        if (!value) return value.error();
        if (options.adapt && value->sizes() != tensor.sizes()) {
            *value = options.adapt(name, *value);
            if (value->sizes() == tensor.sizes()) adapted.push_back(name);
        }
        if (auto status = checkTensor(name, tensor, *value); !status) return status.error();
        if (value->is_floating_point() && !value->isfinite().all().item<bool>()) notFinite.push_back(name);
        if (value->is_floating_point() && value->element_size() > tensor.element_size()) narrowed.push_back(name);
        read.push_back(*value);
    }
    torch::NoGradGuard noGrad;
    for (std::size_t i = 0; i < own.size(); ++i) torch::Tensor(own[i].second).copy_(read[i]);
    LoadReport report;
    if (!leftOut.empty()) report.warnings.push_back("Weights without a place here were left out: " + someNames(leftOut));
    if (!adapted.empty()) report.warnings.push_back("Weights interpolated to this image size: " + someNames(adapted));
    if (!notFinite.empty())
        report.warnings.push_back("Weights that are not finite (NaN or infinity): " + someNames(notFinite));
    if (!narrowed.empty()) report.warnings.push_back("Weights rounded to a narrower type: " + someNames(narrowed));
    return report;
}

void convertFloats(torch::nn::Module &module, torch::Dtype dtype)
{
    for (auto &[name, tensor] : stateDict(module))
        if (tensor.is_floating_point()) tensor.set_data(tensor.to(dtype));
}

} // namespace parallax::nn
