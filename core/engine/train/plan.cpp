// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/plan.h"

#include "core/base/text.h"
#include "core/engine/data/loader.h"

#include <algorithm>
#include <cmath>

namespace parallax::train {
namespace {

Status checkBatch(const Experiment &experiment, std::int64_t images, int world)
{
    const std::int64_t batch = experiment.train.batchSize;
    const std::string where = "train.batch_size";
    if (images == 0)
        return Error{"There are no images to train on", experiment.data.source, "Choose a folder with more images"};
    if (batch > images)
        return Error{"a batch of " + std::to_string(batch) + " is larger than the " + std::to_string(images) +
                         " training images",
                     where, "Set train.batch_size to at most " + std::to_string(images)};
    const std::int64_t parts = experiment.train.accumulate;
    if (batch % parts != 0)
        return Error{"a batch of " + std::to_string(batch) + " does not divide into " + std::to_string(parts) +
                         " equal parts",
                     "train.accumulate", "Set train.batch_size to a multiple of train.accumulate"};
    const std::string what = parts > 1 ? "a part of " + std::to_string(batch / parts) + " images (train.accumulate)"
                                       : "a batch of " + std::to_string(batch);
    if (batch / parts < world)
        return Error{what + " cannot be shared by " + std::to_string(world) + " ranks", where,
                     "Every rank needs at least one image: raise train.batch_size or use fewer ranks" +
                         std::string(parts > 1 ? " or parts" : "")};
    if (batch / parts < 2 || (!experiment.distributed.syncBn && batch / parts / world < 2))
        return Error{"batch norm cannot take statistics over the single image that a rank gets", where,
                     "Raise train.batch_size to at least " + std::to_string(2 * world * parts) +
                         (world > 1 ? ", or switch distributed.sync_bn on" : "")};
    return {};
}

double setting(const Experiment &experiment, const char *key)
{
    const config::Json *value = config::lookup(experiment.config, key);
    return value && value->is_number() ? value->get<double>() : 0;
}

/// What hides patches needs some that it can hide: of `patches` a share of method.mask_ratio, rounded.
Status checkMasking(const Experiment &experiment, const std::string &label)
{
    const auto *network = nn::findBackbone(experiment.backbone.name);
    if (network && network->family != nn::BackboneInfo::Family::Vit)
        return Error{label + " hides patches of the image, which " + network->label + " cannot leave out", "backbone.name",
                     "Set backbone.name to a vision transformer: vit_tiny, vit_small or vit_base"};
    const std::int64_t side = experiment.augment.size / experiment.backbone.patchSize, patches = side * side;
    if (patches == 1)
        return Error{"the only patch of a view cannot be hidden from " + label, "backbone.patch_size",
                     "Set backbone.patch_size to a smaller divisor of augment.size"};
    const double share = setting(experiment, "method.mask_ratio");
    if (share > 0 && std::llround((1 - share) * double(patches)) >= patches)
        return Error{"a share of " + text::fixed(share, 2) + " hides none of the " + std::to_string(patches) +
                         " patches of a view",
                     "method.mask_ratio",
                     "Set method.mask_ratio to at least " + text::fixed(std::ceil(100.0 / double(patches)) / 100, 2) +
                         ", or backbone.patch_size to less"};
    return {};
}

/// What the settings mean for the method, by the key to blame.
std::map<std::string, std::string> concernsOf(const Plan &plan, const Experiment &experiment)
{
    // Published results of the methods that want large batches begin here: SimCLR on CIFAR-10 by lightly.
    constexpr std::int64_t largeBatch = 128;
    std::map<std::string, std::string> concerns;
    const auto &method = experiment.methodInfo();
    const std::int64_t world = std::int64_t(plan.batchPerRank.size()), share = plan.part / world;
    if (world > 1 && !experiment.gathers())
        concerns["distributed.gather"] = method.label + " sees only the " + std::to_string(share) +
            " images of a rank, not the " + std::to_string(plan.part) +
            " of all ranks: gather is off, so that another number of ranks gives another result";
    const std::int64_t seen = experiment.gathers() ? plan.part : share;
    if (method.wantsLargeBatch && seen < largeBatch)
        concerns["train.batch_size"] = method.label +
            " tells an image from the others of its batch and wants many of them: " + std::to_string(seen) +
            " images are few. Raise train.batch_size" + (plan.part < plan.batch ? " or lower train.accumulate" : "") +
            (seen < plan.part ? " or switch distributed.gather on" : "") + ", to " + std::to_string(largeBatch) +
            " images at least";
    return concerns;
}

std::vector<std::string> warningsOf(const Plan &plan, const Experiment &experiment)
{
    std::vector<std::string> warnings;
    if (plan.images < 2 * plan.batch)
        warnings.emplace_back("An epoch is a single step: " + std::to_string(plan.images - plan.batch) + " of " +
                              std::to_string(plan.images) + " images are left out of it, others each time");
    if (experiment.eval.everyEpochs > 0 && !plan.labelled)
        warnings.emplace_back("The images have no labels (no class subfolders): kNN accuracy is off");
    else if (experiment.eval.everyEpochs > 0 && plan.valImages == 0)
        warnings.emplace_back(
            "There are no evaluation images: kNN accuracy is off. Raise data.val_fraction or set data.val_source");
    if (plan.part % std::int64_t(plan.batchPerRank.size()) != 0)
        warnings.emplace_back(
            "The batch does not divide by the ranks: slices differ by one image, and each weighs by its size");
    for (const auto &[key, concern] : plan.concerns) warnings.push_back(concern);
    return warnings;
}

} // namespace

Status checkViews(const Experiment &experiment)
{
    const nn::BackboneConfig &network = experiment.backbone;
    if (Status status = nn::checkImageSize(network, experiment.augment.size, "augment.size"); !status) return status;
    if (setting(experiment, "method.local_views") > 0) {
        const auto size = std::int64_t(setting(experiment, "method.local_size"));
        if (Status status = nn::checkImageSize(network, size, "method.local_size"); !status) return status;
    }
    if (network.imageSize > 0)
        if (Status status = nn::checkImageSize(network, network.imageSize, "backbone.image_size"); !status) return status;
    const auto &method = experiment.methodInfo();
    return method.masksPatches ? checkMasking(experiment, method.label) : Status();
}

Result<Plan> makePlan(const Experiment &experiment, const data::Splits &splits, int world)
{
    Plan plan;
    plan.images = splits.train->size();
    plan.valImages = splits.val ? splits.val->size() : 0;
    plan.labelled = !splits.train->classes().empty();
    if (Status status = data::checkAugment(experiment.augment); !status) return status.error();
    if (Status status = checkViews(experiment); !status) return status.error();
    if (Status status = checkBatch(experiment, plan.images, world); !status) return status.error();
    plan.batch = experiment.train.batchSize;
    plan.part = plan.batch / experiment.train.accumulate;
    for (int rank = 0; rank < world; ++rank)
        plan.batchPerRank.push_back(plan.part * (rank + 1) / world - plan.part * rank / world);
    plan.stepsPerEpoch = plan.images / plan.batch;
    plan.steps = plan.stepsPerEpoch * experiment.train.epochs;
    if (experiment.train.maxSteps > 0) plan.steps = std::min(plan.steps, experiment.train.maxSteps);
    plan.epochs = (plan.steps + plan.stepsPerEpoch - 1) / plan.stepsPerEpoch;
    plan.rate = optim::scaledLearningRate(experiment.optim, plan.batch);
    plan.concerns = concernsOf(plan, experiment);
    plan.warnings = warningsOf(plan, experiment);
    return plan;
}

} // namespace parallax::train
