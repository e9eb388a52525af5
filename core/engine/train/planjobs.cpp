// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/jobs.h"

#include "core/base/text.h"
#include "core/engine/data/check.h"
#include "core/engine/data/preview.h"
#include "core/engine/data/stats.h"
#include "core/engine/dist/cudamodule.h"
#include "core/engine/eval/probeconfig.h"
#include "core/engine/train/devices.h"
#include "core/engine/train/experiment.h"
#include "core/engine/train/failure.h"
#include "core/engine/train/plan.h"

#include <opencv2/core/version.hpp>
#include <torch/version.h>

#include <filesystem>

#include <dlfcn.h>

namespace parallax::train::jobs {
namespace {

/// Whether the LibTorch that runs here was built with CUDA: its CUDA library lies beside the CPU one.
bool torchHasCuda()
{
    Dl_info info;
    if (dladdr(reinterpret_cast<const void *>(&torch::manual_seed), &info) == 0 || !info.dli_fname) return false;
    return std::filesystem::exists(std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so");
}

Json deviceToJson(const dist::CudaInterface &cuda, int device)
{
    char label[256] = "";
    cuda.deviceName(device, label, sizeof label);
    Json json{{"name", "cuda:" + std::to_string(device)}, {"label", label}};
    dist::CudaMemory memory;
    if (cuda.memory(device, &memory)) {
        json["total_mb"] = double(memory.deviceTotal) / 1e6;
        json["free_mb"] = double(memory.deviceTotal - memory.deviceUsed) / 1e6;
    }
    return json;
}

std::int64_t countParameters(const torch::nn::Module &module)
{
    std::int64_t count = 0;
    for (const auto &parameter : module.parameters()) count += parameter.numel();
    return count;
}

/// Width of the features: one blank image through the network.
std::int64_t featureWidth(methods::Method &method, const Experiment &experiment)
{
    const torch::NoGradGuard noGrad;
    method.eval();
    return method.features(torch::zeros({1, 3, experiment.augment.size, experiment.augment.size})).size(1);
}

} // namespace

Result<Json> schema(const Arguments &arguments)
{
    const std::string job = arguments.text("--job", "train");
    if (job == "train") return buildSchema().toJson();
    if (job == "eval") return eval::probeSchema().toJson();
    return Error{"there are no settings of " + text::printable(job), "--job", "There are those of: train, eval"};
}

Result<Json> methods(const Arguments &)
{
    Json list = Json::array();
    for (const auto &info : methods::Registry::all()) {
        config::Schema options;
        if (info.declareOptions) info.declareOptions(options);
        Json keys = Json::array();
        for (const auto &field : options.fields()) keys.push_back(field.key);
        list.push_back({{"name", info.name},
                        {"label", info.label},
                        {"paper", info.paper},
                        {"use", info.use},
                        {"gather", info.usesGather},
                        {"large_batch", info.wantsLargeBatch},
                        {"gather_advice", info.gatherAdvice},
                        {"sync_bn_advice", info.syncBnAdvice},
                        {"options", keys}});
    }
    return list;
}

Result<Json> devices(const Arguments &)
{
    std::string error;
    const auto *cuda = dist::openCudaModule(error);
    const Machine machine = Machine::probe();
    Json list = Json::array();
    for (int device = 0; device < machine.cudaDevices; ++device) list.push_back(deviceToJson(*cuda, device));
    return Json{{"torch", TORCH_VERSION},
                {"torch_cuda", torchHasCuda()},
                {"cuda_module", cuda != nullptr},
                {"cuda_error", machine.cudaError},
                {"opencv", CV_VERSION},
                {"cpu_cores", machine.cores},
                {"devices", list}};
}

Result<Json> plan(const Arguments &arguments)
{
    const auto experiment = valueOrThrow(Experiment::fromFile(arguments.required("--config")));
    const auto map = mapDevices(experiment.distributed, experiment.train.threads, experiment.data.threads, Machine::probe());
    if (!map) return map.error();
    const auto splits = data::openData(experiment.data, std::uint64_t(experiment.train.seed));
    if (!splits) return splits.error();
    const auto plan = makePlan(experiment, *splits, int(map->devices.size()));
    if (!plan) return plan.error();
    const auto method = experiment.makeMethod();
    std::vector<std::string> warnings = map->warnings;
    warnings.insert(warnings.end(), plan->warnings.begin(), plan->warnings.end());
    if (splits->aside > 0)
        warnings.push_back(std::to_string(splits->aside) +
                           " files that parallax data check could not read are not tried again; others stand in for them");
    return Json{{"images", plan->images},
                {"val_images", plan->valImages},
                {"classes", splits->train->classes()},
                {"labelled", plan->labelled},
                {"remark", splits->train->remark()},
                {"steps_per_epoch", plan->stepsPerEpoch},
                {"steps", plan->steps},
                {"batch_per_rank", plan->batchPerRank},
                {"accumulate", experiment.train.accumulate},
                {"lr_scaled", plan->rate},
                {"features", featureWidth(*method, experiment)},
                {"parameters", countParameters(*method)},
                {"devices", map->devices},
                {"threads_per_rank", map->threadsPerRank},
                {"loader_threads", map->loaderThreads},
                {"concerns", plan->concerns},
                {"warnings", warnings}};
}

Result<Json> check(const Arguments &arguments)
{
    const auto experiment = valueOrThrow(Experiment::fromFile(arguments.required("--config")));
    return data::checkData(experiment.data, {experiment.augment.size, std::uint64_t(experiment.train.seed)});
}

Result<Json> stats(const Arguments &arguments)
{
    const auto experiment = valueOrThrow(Experiment::fromFile(arguments.required("--config")));
    const auto splits = data::openData(experiment.data, std::uint64_t(experiment.train.seed));
    if (!splits) return splits.error();
    const auto stats = data::channelStats(*splits->train, int(experiment.data.threads));
    if (!stats) return stats.error();
    Json answer = stats->toJson();
    answer["source"] = splits->train->source();
    return answer;
}

Result<Json> preview(const Arguments &arguments)
{
    const auto experiment = valueOrThrow(Experiment::fromFile(arguments.required("--config")));
    const auto splits = data::openData(experiment.data, std::uint64_t(experiment.train.seed));
    if (!splits) return splits.error();
    if (Status status = data::checkAugment(experiment.augment); !status) return status.error();
    if (Status status = checkViews(experiment); !status) return status.error();
    data::PreviewOptions options;
    options.images = arguments.number("--images", options.images, 1);
    options.epochs = arguments.number("--epochs", options.epochs, 1);
    options.seed = std::uint64_t(experiment.train.seed);
    options.out = arguments.required("--out");
    return data::writePreview(*splits->train, experiment.makeMethod()->views(experiment.augment), options);
}

} // namespace parallax::train::jobs
