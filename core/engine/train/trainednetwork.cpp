// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/trainednetwork.h"

#include "core/base/text.h"
#include "core/engine/nn/weights.h"
#include "core/engine/train/failure.h"

namespace parallax::train {
namespace {

/// The checkpoint made at the end of epoch --epoch, else the newest one that loads.
Checkpoint chooseCheckpoint(const runs::RunFolder &run, const Arguments &arguments, std::vector<std::string> &warnings)
{
    if (!arguments.has("--epoch")) return valueOrThrow(readNewest(run, warnings));
    const std::int64_t epoch = arguments.number("--epoch", 0);
    std::vector<std::string> there;
    for (const auto &files : run.listCheckpoints()) {
        auto checkpoint = readCheckpoint(files);
        if (!checkpoint)
            warnings.push_back(checkpoint.error().message());
        else if (checkpoint->progress.epoch == epoch && checkpoint->progress.batch == 0)
            return std::move(*checkpoint);
        else
            there.push_back(std::to_string(checkpoint->progress.epoch));
    }
    throw Failure({"has no checkpoint of epoch " + std::to_string(epoch), run.path().string(),
                   there.empty() ? "It has none at all" : "There are those of epochs " + text::join(there, ", ")});
}

} // namespace

runs::RunFolder openRun(const Arguments &arguments)
{
    runs::RunFolder run(arguments.required("--run"));
    std::error_code ignored;
    if (!std::filesystem::exists(run.config(), ignored))
        throw Failure({"is not a run: there is no config.json in it", run.path().string(), "parallax list shows the runs"});
    return run;
}

TrainedNetwork loadNetwork(const runs::RunFolder &run, const Arguments &arguments)
{
    TrainedNetwork network{valueOrThrow(Experiment::fromFile(run.config().string())), {}, {}, {}};
    network.method = network.experiment.makeMethod();
    if (arguments.has("--weights")) {
        const std::string name = arguments.text("--weights");
        const auto file = valueOrThrow(runs::SafetensorsFile::open(name));
        auto report = nn::loadBackbone(*network.method->backbone(), file);
        if (!report) throw Failure({report.error().what, name, report.error().hint});
        network.warnings = std::move(report->warnings);
        network.progress.epoch = arguments.number("--epoch", 0);
        return network;
    }
    const Checkpoint checkpoint = chooseCheckpoint(run, arguments, network.warnings);
    nn::convertFloats(*network.method, network.experiment.dtype());
    const auto report = valueOrThrow(nn::loadState(*network.method, checkpoint.tensors, kModelPrefix));
    network.warnings.insert(network.warnings.end(), report.warnings.begin(), report.warnings.end());
    nn::convertFloats(*network.method, torch::kFloat32);
    network.progress = checkpoint.progress;
    return network;
}

} // namespace parallax::train
