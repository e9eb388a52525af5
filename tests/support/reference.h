// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/weights.h"
#include "core/runs/safetensors.h"

#include <torch/torch.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// Expected values that the Python library lightly and torchvision gave: tests/reference/README.md says what each file holds.
namespace reference {

/// The variable PARALLAX_REFERENCE_DIR names another folder of cases.
inline std::filesystem::path folder()
{
    const char *other = std::getenv("PARALLAX_REFERENCE_DIR");
    return other && *other ? std::filesystem::path(other) : std::filesystem::path(PARALLAX_SOURCE_DIR) / "tests/reference";
}

/// Names such as "losses/ntxent_t0.1_b8_d16" of a group's files that start with `prefix`, sorted.
inline std::vector<std::string> cases(const std::string &group, const std::string &prefix = {})
{
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder() / group)) {
        const std::string name = entry.path().stem().string();
        if (name.starts_with(prefix)) names.push_back(group + "/" + name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// All files below the folder, sorted, named as by `cases`.
inline std::vector<std::string> allCases()
{
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder()))
        if (entry.path().extension() == ".safetensors")
            names.push_back(std::filesystem::relative(entry.path(), folder()).replace_extension().string());
    std::sort(names.begin(), names.end());
    return names;
}

class Case
{
public:
    explicit Case(const std::string &name) : m_name(name), m_file(open(name))
    {
        params = nlohmann::json::parse(m_file.metadata().at("params"));
        kind = m_file.metadata().at("kind");
        const auto expect = nlohmann::json::parse(m_file.metadata().at("expect"));
        m_tolerance = expect.at("tolerance");
        for (const char *part : {"outputs", "grads", "float64"})
            for (const auto &name : expect.at(part)) expected.push_back(name);
    }

    torch::Tensor tensor(const std::string &name) const
    {
        auto tensor = parallax::nn::readTensor(m_file, name);
        if (!tensor) throw std::runtime_error(m_name + ": " + tensor.error().message());
        return *tensor;
    }
    bool has(const std::string &name) const { return m_file.tensors().count(name) > 0; }
    /// A JSON list of the metadata, such as "grad_names".
    nlohmann::json list(const std::string &key) const { return nlohmann::json::parse(m_file.metadata().at(key)); }
    const parallax::runs::SafetensorsFile &file() const { return m_file; }

    /// Empty when `got` is the tensor of that name within the file's tolerance; else what differs, for QVERIFY2.
    std::string differs(const std::string &name, const torch::Tensor &got) const { return differs(name, got, tensor(name)); }
    /// The same with another expected value, by the tolerance that the file gives to `name`.
    std::string differs(const std::string &name, const torch::Tensor &got, const torch::Tensor &right) const
    {
        const torch::Tensor expected = right.detach().cpu().to(torch::kFloat64),
                            actual = got.detach().cpu().to(torch::kFloat64);
        if (expected.sizes() != actual.sizes())
            return text(name, "shape ", actual.sizes(), " instead of ", expected.sizes());
        const auto tolerance = m_tolerance.at(name);
        const double rtol = tolerance.value("rtol", 0.0);
        // A chain of image operations may differ by a grey level from one that rounds elsewhere.
        const double atol = tolerance.value("suggested_atol", tolerance.value("atol", 0.0));
        const torch::Tensor excess = (actual - expected).abs() - (atol + rtol * expected.abs());
        if (actual.isfinite().all().item<bool>() && excess.le(0).all().item<bool>()) return {};
        return text(name, "off by up to ", (actual - expected).abs().max().item<double>(), " (rtol ", rtol, ", atol ", atol,
                    "), norm ", actual.norm().item<double>(), " instead of ", expected.norm().item<double>());
    }

    nlohmann::json params;
    std::string kind;
    std::vector<std::string> expected; ///< names of all tensors that must come out

private:
    static parallax::runs::SafetensorsFile open(const std::string &name)
    {
        auto file = parallax::runs::SafetensorsFile::open(folder() / (name + ".safetensors"));
        if (!file) throw std::runtime_error(file.error().message());
        return *file;
    }
    template<class... Parts>
    std::string text(const std::string &name, const Parts &...parts) const
    {
        std::ostringstream stream;
        stream << m_name << " " << name << ": ";
        (stream << ... << parts);
        return stream.str();
    }

    std::string m_name;
    parallax::runs::SafetensorsFile m_file;
    nlohmann::json m_tolerance;
};

/// u in [0, 1) for `count` places of the tensor of that name [count], float64: the rule and its constants are in
/// tests/reference/README.md.
inline torch::Tensor uniform(const std::string &name, std::int64_t count)
{
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : name) hash = (hash ^ std::uint8_t(c)) * 0x100000001b3ULL;
    torch::Tensor values = torch::empty({count}, torch::kFloat64);
    double *out = values.data_ptr<double>();
    for (std::int64_t i = 0; i < count; ++i) {
        std::uint64_t z = hash + std::uint64_t(i) * 0x9E3779B97F4A7C15ULL;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        z ^= z >> 31;
        out[i] = double(z >> 40) / double(1 << 24);
    }
    return values;
}

/// The deterministic filling of a tensor: uniform values by its name and place, scaled by what the tensor is.
inline void fill(const std::string &name, torch::Tensor tensor)
{
    torch::NoGradGuard noGrad;
    const std::string last = name.substr(name.rfind('.') + 1);
    if (last == "num_batches_tracked" || last == "weight_g") {
        tensor.fill_(last == "weight_g" ? 1 : 0);
        return;
    }
    static const std::set<std::string> embeddings{"layer_scale",   "class_token", "cls_token",
                                                  "pos_embedding", "pos_embed",   "mask_token"};
    double middle = 0, width = 0.2;
    if (last == "running_var") {
        middle = 1;
        width = 1;
    } else if (last == "running_mean") {
        width = 0.2;
    } else if (embeddings.count(last)) {
        width = 0.04;
    } else if (tensor.dim() >= 2) {
        width = 2 * std::sqrt(3.0 / (double(tensor.numel()) / double(tensor.size(0))));
    } else if (last == "weight") {
        middle = 1;
    }
    const torch::Tensor u = uniform(name, tensor.numel());
    tensor.copy_((middle + (u - 0.5) * width).to(torch::kFloat32).view_as(tensor));
}

inline void fillModule(const torch::nn::Module &module)
{
    for (const auto &[name, tensor] : parallax::nn::stateDict(module)) fill(name, tensor);
}

/// L2 norms, in float64, one a tensor.
inline torch::Tensor norms(const std::vector<torch::Tensor> &tensors)
{
    std::vector<torch::Tensor> list;
    for (const auto &tensor : tensors)
        list.push_back(tensor.defined() ? tensor.detach().to(torch::kFloat64).norm() : torch::zeros({}, torch::kFloat64));
    return torch::stack(list);
}

} // namespace reference
