// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/plan.h"

#include "core/engine/data/loader.h"

#include <algorithm>

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
    return warnings;
}

} // namespace

Result<Plan> makePlan(const Experiment &experiment, const data::Splits &splits, int world)
{
    Plan plan;
    plan.images = splits.train->size();
    plan.valImages = splits.val ? splits.val->size() : 0;
    plan.labelled = !splits.train->classes().empty();
    if (Status status = data::checkAugment(experiment.augment); !status) return status.error();
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
    plan.warnings = warningsOf(plan, experiment);
    return plan;
}

} // namespace parallax::train
