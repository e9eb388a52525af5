// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/optimconfig.h"

namespace parallax::optim {

void OptimConfig::describe(config::Group<OptimConfig> &group)
{
    group.field("name", &OptimConfig::name)
        .label("Optimiser")
        .choice("sgd", "SGD", "Stochastic gradient descent with momentum")
        .help("How weights follow their gradients.");
    group.field("base_lr", &OptimConfig::baseLr)
        .label("Base learning rate")
        .unit("per reference batch")
        .above(0)
        .help("Scaled with the batch: the rate that is used is base rate × batch / reference batch.");
    group.field("lr_reference_batch", &OptimConfig::lrReferenceBatch)
        .label("Reference batch")
        .unit("images")
        .atLeast(0)
        .help("The batch size that the base learning rate is meant for. 0: the base rate is used as it is.");
    group.field("momentum", &OptimConfig::momentum)
        .label("Momentum")
        .range(0, 0.9999)
        .help("Share of the last update that the next one keeps.");
    group.field("weight_decay", &OptimConfig::weightDecay)
        .label("Weight decay")
        .range(0, 1)
        .help("Pull of the weights towards zero, added to their gradients.");
    group.field("nesterov", &OptimConfig::nesterov)
        .label("Nesterov momentum")
        .advanced()
        .help("Looks one update ahead. Needs a momentum above 0.");
    group.field("schedule", &OptimConfig::schedule)
        .label("Schedule")
        .choice("cosine", "Cosine", "falls to 0 over the run along half a cosine")
        .choice("constant", "Constant", "stays where the warm-up ends")
        .help("How the learning rate changes, step by step.");
    group.field("warmup_epochs", &OptimConfig::warmupEpochs)
        .label("Warm-up")
        .unit("epochs")
        .atLeast(0)
        .help("The learning rate first rises in even steps over so many epochs.");
    group.field("exclude_bias_norm_wd", &OptimConfig::excludeBiasNormWd)
        .label("No decay on biases and norms")
        .advanced()
        .help("Leaves biases and the weights of batch norms out of weight decay.");
}

double scaledLearningRate(const OptimConfig &config, std::int64_t globalBatch)
{
    if (config.lrReferenceBatch == 0) return config.baseLr;
    return config.baseLr * double(globalBatch) / double(config.lrReferenceBatch);
}

} // namespace parallax::optim
