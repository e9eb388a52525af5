// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/runs/safetensors.h"

#include <torch/torch.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// Between torch and safetensors files: names, shapes and types are checked before a single weight changes.
namespace parallax::nn {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// Parameters, then buffers, by their dotted names. The tensors are the module's own, not copies.
NamedTensors stateDict(const torch::nn::Module &module);
/// `tensors` with `prefix` before every name.
NamedTensors prefixed(const std::string &prefix, const NamedTensors &tensors);

/// Written atomically; tensors on any device. F64, F32, F16, BF16, I64, I32, I16, I8, U8 and BOOL keep their type.
Status saveTensors(const std::filesystem::path &path, const NamedTensors &tensors,
                   const std::map<std::string, std::string> &metadata = {});

/// A copy of one tensor, in the file's own type, on the CPU. An Error for a name that is not there.
Result<torch::Tensor> readTensor(const runs::SafetensorsFile &file, const std::string &name);
/// All tensors whose name starts with `prefix`, by the rest of the name.
Result<std::map<std::string, torch::Tensor>> readTensors(const runs::SafetensorsFile &file, const std::string &prefix = {});

/// What loading found worth telling: weights that are not finite, a conversion that loses precision, what was left out.
struct LoadReport {
    std::vector<std::string> warnings;
};
struct LoadOptions {
    std::vector<std::string> leftOut; ///< names in the file that start so need no place in the module
    /// Makes a tensor that was read into one of the module's shape, by its name in the module; the report names what changed.
    std::function<torch::Tensor(const std::string &name, const torch::Tensor &read)> adapt;
};
/// Fills `module` from the tensors named `prefix` + its own names. All names on both sides must match, and all shapes;
/// floating types are converted to the module's. On an Error nothing has changed.
Result<LoadReport> loadState(torch::nn::Module &module, const runs::SafetensorsFile &file, const std::string &prefix = {},
                             const LoadOptions &options = {});

/// Floating-point parameters and buffers as `dtype`; integer buffers stay as they are (Module::to would convert them too).
void convertFloats(torch::nn::Module &module, torch::Dtype dtype);

} // namespace parallax::nn
