// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/jobs.h"

#include "core/base/text.h"
#include "core/engine/train/devices.h"
#include "core/engine/train/evalreport.h"
#include "core/engine/train/failure.h"
#include "core/runs/evaluation.h"

#include <opencv2/core.hpp>

#include <chrono>
#include <cstdio>

namespace parallax::train::jobs {
namespace {

/// --device auto, cpu, cuda or cuda:N; without it, what the run's distributed.device allows here.
torch::Device chooseDevice(const Experiment &experiment, const Arguments &arguments)
{
    const std::string wanted = arguments.text("--device", "auto");
    const std::string number = wanted.starts_with("cuda:") ? wanted.substr(5) : "0";
    const auto index = text::parseInt(number);
    if ((wanted != "auto" && wanted != "cpu" && !wanted.starts_with("cuda")) || !index || *index < 0 ||
        (wanted.starts_with("cuda") && wanted != "cuda" && wanted != "cuda:" + number))
        throw Failure({text::printable(wanted) + " is no device", "--device", "One of: auto, cpu, cuda, cuda:1"});
    if (wanted == "cpu" || (wanted == "auto" && experiment.distributed.device == "cpu")) return torch::kCPU;
    const Machine machine = Machine::probe();
    if (*index < machine.cudaDevices) return {torch::kCUDA, c10::DeviceIndex(*index)};
    if (wanted == "auto") return torch::kCPU;
    throw Failure({wanted + " is not there: there are " + std::to_string(machine.cudaDevices) + " visible CUDA devices" +
                       (machine.cudaError.empty() ? "" : " (" + machine.cudaError + ")"),
                   "--device", "Use --device cpu"});
}

void tell(const Json &document)
{
    const std::string line = document.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
}

} // namespace

Result<Json> evaluate(const Arguments &arguments)
{
    const auto start = std::chrono::steady_clock::now();
    const auto settings = valueOrThrow(config::resolve(eval::probeSchema(), {}, arguments.values("--set")));
    const auto probe = eval::readProbe(settings);
    const auto run = openRun(arguments);
    const TrainedNetwork network = loadNetwork(run, arguments);
    const Experiment &experiment = network.experiment;
    const auto device = chooseDevice(experiment, arguments);
    const auto splits = valueOrThrow(openLabelled(experiment, probe, arguments));

    const int cores = Machine::usableCores(), threads = threadsFor(experiment.train.threads, cores, 1);
    torch::set_num_threads(threads);
    cv::setNumThreads(1);                            // the loader has threads of its own
    at::globalContext().setDeterministicCuDNN(true); // a second call gives the same numbers
    eval::LabelledData data{splits.train, splits.val, experiment.augment};
    if (probe.size > 0) data.augment.size = probe.size;
    data.threads = threadsFor(experiment.data.threads, cores, 1);
    data.prefetch = int(experiment.data.prefetch);
    dist::RanksOptions options;
    options.device = device;
    const auto ranks = dist::Ranks::connect(options);
    network.method->to(device);

    EvalCase of{network, splits, data, probe, settings, arguments.text("--weights"), device.str(), threads};
    tell({{"mode", probe.mode},
          {"checkpoint_epoch", network.progress.epoch},
          {"weights", of.weights},
          {"epochs", probe.epochs},
          {"lr", probe.lr},
          {"train_images", splits.train->size()},
          {"val_images", splits.val->size()},
          {"classes", splits.train->classes().size()},
          {"device", of.device}});
    const auto result =
        valueOrThrow(eval::probe(*network.method, data, probe, *ranks, [&](const std::vector<eval::RateCurve> &curves) {
            tell(progressDocument(curves, probe.epochs));
        }));
    of.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    Json document = evalDocument(of, result);
    const std::map<std::string, std::string> metadata{
        {"format", "pt"},
        {"mode", probe.mode},
        {"classes", Json(splits.train->classes()).dump(-1, ' ', false, Json::error_handler_t::replace)},
        {"epoch", std::to_string(result.curve().last().epoch)}};
    const auto file = runs::storeEvaluation(run, probe.mode, document, [&](const std::filesystem::path &weights) {
        return nn::saveTensors(weights, trainedWeights(of, result), metadata);
    });
    if (!file) return file.error();
    document["file"] = file->string();
    document["weights"]["file"] = std::filesystem::path(*file).replace_extension(".safetensors").filename().string();
    return document;
}

} // namespace parallax::train::jobs
