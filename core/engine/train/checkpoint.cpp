// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/checkpoint.h"

#include "core/base/atomicfile.h"
#include "core/base/paths.h"
#include "core/base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace parallax::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
constexpr int kFormat = 1;

/// The Error of a failed write, with what the checkpoint needs where the room left is the reason.
Error writeError(const Error &error, const fs::path &file, std::uint64_t bytes)
{
    const std::uint64_t free = paths::freeSpace(file);
    if (free >= bytes)
        return {error.what, error.where,
                (error.hint.empty() ? std::string() : error.hint + ". ") +
                    "Resume the run once that is mended; its earlier checkpoints are intact"};
    return {"disk full: the checkpoint needs " + text::bytes(bytes) + ", " + text::bytes(free) + " are free", file.string(),
            "Free some space, then resume the run; its earlier checkpoints are intact"};
}

/// Deletes all but the `keepLast` newest checkpoints, and tensors that an interrupted write left without their JSON.
void prune(const runs::RunFolder &run, std::int64_t keepLast)
{
    auto all = run.listCheckpoints();
    std::error_code ignored; // a file that cannot be deleted costs room, not the run
    for (std::size_t i = 0; i + std::size_t(keepLast) < all.size(); ++i) {
        fs::remove(all[i].state, ignored);
        fs::remove(all[i].tensors, ignored);
    }
    for (const auto &entry : fs::directory_iterator(run.checkpoints(), ignored)) {
        fs::path state = entry.path();
        if (state.extension() != ".safetensors") continue;
        if (!fs::exists(state.replace_extension(".json"), ignored)) fs::remove(entry.path(), ignored);
    }
}

} // namespace

Json Progress::toJson() const
{
    return {{"format", kFormat},
            {"step", step},
            {"epoch", epoch},
            {"batch", batch},
            {"untrained_knn", untrainedKnn},
            {"best_knn", bestKnn},
            {"loss_scale", scaling.scale},
            {"loss_scale_good_steps", scaling.goodSteps}};
}

Result<Progress> Progress::fromJson(const Json &json)
{
    const auto whole = [&](const char *key) {
        return json.contains(key) && json[key].is_number_integer() && json[key] >= 0;
    };
    const auto number = [&](const char *key) { return json.contains(key) && json[key].is_number(); };
    if (!json.is_object() || !whole("format")) return Error{"is not a checkpoint's state", {}, {}};
    if (json["format"] != kFormat)
        return Error{"has format " + json["format"].dump() + "; this version reads format " + std::to_string(kFormat),
                     {},
                     "Use a newer Parallax"};
    if (!whole("step") || !whole("epoch") || !whole("batch") || !number("untrained_knn") || !number("best_knn"))
        return Error{"lacks step, epoch, batch, untrained_knn or best_knn", {}, {}};
    Progress progress;
    progress.step = json["step"];
    progress.epoch = json["epoch"];
    progress.batch = json["batch"];
    progress.untrainedKnn = json["untrained_knn"];
    progress.bestKnn = json["best_knn"];
    // Older checkpoints, which were never in fp16, have none.
    if (number("loss_scale") && json["loss_scale"] >= 1) progress.scaling.scale = json["loss_scale"];
    if (whole("loss_scale_good_steps")) progress.scaling.goodSteps = json["loss_scale_good_steps"];
    return progress;
}

Result<std::uint64_t> saveCheckpoint(const runs::RunFolder &run, const Progress &progress, const nn::NamedTensors &tensors,
                                     std::int64_t keepLast)
{
    std::uint64_t bytes = 0;
    for (const auto &entry : tensors) bytes += entry.second.nbytes();
    const auto files = run.checkpoint(progress.step);
    std::error_code exists; // a folder made by hand for torchrun or Slurm holds only config.json; failing shows in the write
    fs::create_directories(run.checkpoints(), exists);
    if (Status written = nn::saveTensors(files.tensors, tensors); !written)
        return writeError(written.error(), files.tensors, bytes);
    if (Status written = writeFileAtomic(files.state, progress.toJson().dump(1) + "\n"); !written) {
        std::error_code ignored;
        fs::remove(files.tensors, ignored);
        return writeError(written.error(), files.state, bytes);
    }
    prune(run, keepLast);
    return bytes;
}

Result<Checkpoint> readCheckpoint(const runs::RunFolder::Checkpoint &files)
{
    auto text = readFile(files.state, std::size_t(1) << 20);
    if (!text) return text.error();
    auto progress = Progress::fromJson(Json::parse(*text, nullptr, false));
    if (!progress) return Error{progress.error().what, files.state.string(), progress.error().hint};
    auto file = runs::SafetensorsFile::open(files.tensors);
    if (!file) return file.error();
    for (const auto &name : file->names()) {
        auto tensor = nn::readTensor(*file, name);
        if (!tensor) return tensor.error();
        if (tensor->is_floating_point() && !torch::isfinite(*tensor).all().item<bool>())
            return Error{"tensor " + name + " holds NaN or infinity", files.tensors.string(), {}};
    }
    return Checkpoint{*progress, std::move(*file)};
}

Result<Checkpoint> readNewest(const runs::RunFolder &run, std::vector<std::string> &warnings)
{
    auto all = run.listCheckpoints();
    std::reverse(all.begin(), all.end());
    for (const auto &files : all) {
        auto checkpoint = readCheckpoint(files);
        if (checkpoint) return checkpoint;
        warnings.push_back("Checkpoint of step " + std::to_string(files.step) +
                           " does not load: " + checkpoint.error().message());
    }
    return Error{all.empty() ? "The run has no checkpoint" : "None of the run's checkpoints loads", run.path().string(),
                 all.empty() ? "Start it anew" : warnings.front()};
}

std::string digest(const torch::nn::Module &module)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto mix = [&hash](const void *data, std::size_t bytes) {
        const auto *p = static_cast<const unsigned char *>(data);
        for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001b3u;
    };
    for (const auto &[name, tensor] : nn::stateDict(module)) {
        const auto host = tensor.detach().to(torch::kCPU).contiguous();
        mix(name.data(), name.size());
        mix(host.const_data_ptr(), host.nbytes());
    }
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

} // namespace parallax::train
