// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/jobs.h"

#include "core/engine/nn/weights.h"
#include "core/engine/train/devices.h"
#include "core/engine/train/embedder.h"
#include "core/engine/train/evaluator.h"
#include "core/engine/train/failure.h"
#include "core/engine/train/subset.h"
#include "core/engine/train/trainednetwork.h"

#include <opencv2/core.hpp>

namespace parallax::train::jobs {
namespace {

namespace fs = std::filesystem;

/// The training images, or every image of --data.
std::shared_ptr<const data::Dataset> imagesToEmbed(const Experiment &experiment, const Arguments &arguments)
{
    data::DataConfig config = experiment.data;
    if (arguments.has("--data")) {
        config = {};
        config.source = arguments.text("--data");
        config.valFraction = 0;
    }
    const auto splits = valueOrThrow(data::openData(config, std::uint64_t(experiment.train.seed)));
    return evenSubset(splits.train, arguments.number("--limit", experiment.output.embedLimit));
}

std::shared_ptr<dist::Ranks> ownDevice(const Experiment &experiment)
{
    const bool cuda = experiment.distributed.device != "cpu" && Machine::probe().cudaDevices > 0;
    dist::RanksOptions options;
    if (cuda) options.device = torch::Device("cuda:0");
    return dist::Ranks::connect(options);
}

} // namespace

Result<Json> embed(const Arguments &arguments)
{
    const auto run = openRun(arguments);
    TrainedNetwork network = loadNetwork(run, arguments);
    cv::setNumThreads(1); // the loader has threads of its own
    const auto data = imagesToEmbed(network.experiment, arguments);
    const auto ranks = ownDevice(network.experiment);
    network.method->to(ranks->device());
    const Evaluator evaluator(network.experiment, {data, {}}, ranks, 1);
    EmbeddingTarget target;
    target.epoch = int(network.progress.epoch);
    target.step = network.progress.step;
    target.folder = run.embeddings(target.epoch);
    const auto [readable, features, unreadable] = evaluator.features(*network.method, data);
    if (unreadable > 0)
        network.warnings.push_back(std::to_string(unreadable) +
                                   " images cannot be read and are left out (parallax data check "
                                   "names them)");
    if (!torch::isfinite(features).all().item<bool>()) network.warnings.push_back("some features are NaN or infinite");
    if (const auto zero = (features == 0).all(1).sum().item<std::int64_t>(); zero > 0)
        network.warnings.push_back(std::to_string(zero) +
                                   " images have features that are all zero: they have no direction, so no neighbours");
    if (Status status = writeEmbedding(target, *readable, features); !status) return status.error();
    return Json{{"folder", target.folder.string()}, {"count", readable->size()}, {"unreadable", unreadable},
                {"dim", features.size(1)},          {"epoch", target.epoch},     {"warnings", network.warnings}};
}

Result<Json> exportBackbone(const Arguments &arguments)
{
    const auto run = openRun(arguments);
    const std::string out = arguments.required("--out");
    const TrainedNetwork network = loadNetwork(run, arguments);
    const auto tensors = nn::stateDict(*network.method->backbone());
    const std::map<std::string, std::string> metadata{{"format", "pt"},
                                                      {"method", network.experiment.method},
                                                      {"backbone", network.experiment.backbone.name},
                                                      {"step", std::to_string(network.progress.step)}};
    if (Status status = nn::saveTensors(out, tensors, metadata); !status) return status.error();
    return Json{{"file", out},
                {"tensors", tensors.size()},
                {"bytes", fs::file_size(out)},
                {"step", network.progress.step},
                {"epoch", network.progress.epoch},
                {"warnings", network.warnings}};
}

} // namespace parallax::train::jobs
