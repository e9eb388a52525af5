// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/experiment.h"

#include "core/base/text.h"

namespace parallax::train {
namespace {

void declareMethods(config::Schema &schema)
{
    schema.addGroup("method", "Method");
    config::Field name;
    name.key = "method.name";
    name.type = config::Type::String;
    name.defaultValue = "simclr";
    name.label = "Method";
    name.help = "How the network learns from images without labels.";
    for (const auto &info : methods::Registry::all())
        name.choices.push_back({info.name,
                                info.label,
                                info.use,
                                {{"distributed.gather", info.gatherAdvice}, {"distributed.sync_bn", info.syncBnAdvice}}});
    schema.add(name);
    for (const auto &info : methods::Registry::all())
        if (info.declareOptions) info.declareOptions(schema);
}

} // namespace

config::Schema buildSchema()
{
    config::Schema schema;
    config::declare<data::DataConfig>(schema, "data", "Data");
    config::declare<data::AugmentConfig>(schema, "augment", "Augmentation");
    declareMethods(schema);
    config::declare<nn::BackboneConfig>(schema, "backbone", "Backbone");
    config::declare<optim::OptimConfig>(schema, "optim", "Optimiser");
    config::declare<TrainConfig>(schema, "train", "Training");
    config::declare<DistributedConfig>(schema, "distributed", "Distributed");
    config::declare<eval::EvalConfig>(schema, "eval", "Evaluation");
    config::declare<CheckpointConfig>(schema, "checkpoint", "Checkpoints");
    config::declare<OutputConfig>(schema, "output", "Output");
    return schema;
}

Result<Experiment> Experiment::fromJson(const config::Json &config)
{
    const config::Schema schema = buildSchema();
    const auto issues = schema.check(config);
    if (!issues.empty()) {
        std::vector<std::string> lines;
        for (const auto &issue : issues) lines.push_back(issue.message());
        return Error{text::join(lines, "\n"), "configuration", "parallax schema lists every key and what it takes"};
    }
    const config::Json full = schema.complete(config);
    Experiment experiment;
    experiment.data = config::read<data::DataConfig>(full, "data");
    experiment.augment = config::read<data::AugmentConfig>(full, "augment");
    experiment.backbone = config::read<nn::BackboneConfig>(full, "backbone");
    experiment.optim = config::read<optim::OptimConfig>(full, "optim");
    experiment.train = config::read<TrainConfig>(full, "train");
    experiment.distributed = config::read<DistributedConfig>(full, "distributed");
    experiment.eval = config::read<eval::EvalConfig>(full, "eval");
    experiment.checkpoint = config::read<CheckpointConfig>(full, "checkpoint");
    experiment.output = config::read<OutputConfig>(full, "output");
    experiment.method = config::lookup(full, "method.name")->get<std::string>();
    experiment.config = full;
    return experiment;
}

Result<Experiment> Experiment::fromFile(const std::string &file)
{
    auto json = config::readFile(file);
    if (!json) return json.error();
    return fromJson(*json);
}

std::optional<torch::Dtype> Experiment::mixedPrecision() const
{
    if (train.precision == "bf16") return torch::kBFloat16;
    if (train.precision == "fp16") return torch::kFloat16;
    return {};
}

const methods::MethodInfo &Experiment::methodInfo() const
{
    const methods::MethodInfo *info = methods::Registry::find(method);
    TORCH_CHECK(info != nullptr, "method ", method, " is not registered");
    return *info;
}

std::shared_ptr<methods::Method> Experiment::makeMethod() const
{
    nn::BackboneConfig network = backbone;
    if (network.imageSize == 0) network.imageSize = augment.size;
    torch::manual_seed(std::uint64_t(train.seed));
    return methodInfo().make(config, [&network] { return nn::makeBackbone(network); });
}

} // namespace parallax::train
