// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/optim/optimconfig.h"

namespace parallax::optim {

namespace {

config::Condition only(std::vector<std::string> names) { return {"optim.name", std::move(names)}; }

void describeUpdate(config::Group<OptimConfig> &group)
{
    group.field("momentum", &OptimConfig::momentum)
        .label("Momentum")
        .when(only({"sgd", "lars"}))
        .range(0, 0.9999)
        .help("Share of the last update that the next one keeps.");
    group.field("nesterov", &OptimConfig::nesterov)
        .label("Nesterov momentum")
        .when(only({"sgd", "lars"}))
        .advanced()
        .help("Looks one update ahead. Needs a momentum above 0.");
    group.field("beta1", &OptimConfig::beta1)
        .label("β₁")
        .when(only({"adam", "adamw"}))
        .range(0, 0.9999)
        .advanced()
        .help("Share of the running mean of the gradient that a step keeps.");
    group.field("beta2", &OptimConfig::beta2)
        .label("β₂")
        .when(only({"adam", "adamw"}))
        .range(0, 0.999999)
        .advanced()
        .help("Share of the running mean of the squared gradient that a step keeps.");
    group.field("eps", &OptimConfig::eps)
        .label("ε")
        .when(only({"adam", "adamw", "lars"}))
        .range(0, 1)
        .advanced()
        .help("Added to what the update is divided by.");
    group.field("trust_coefficient", &OptimConfig::trustCoefficient)
        .label("Trust coefficient")
        .when(only({"lars"}))
        .above(0)
        .advanced()
        .help("Length of a layer's update at rate 1, as a share of the length of its weights.");
    group.field("exclude_bias_norm_lars", &OptimConfig::excludeBiasNormLars)
        .label("No layer-wise rate on biases and norms")
        .when(only({"lars"}))
        .advanced()
        .help("Biases and the weights of norms take plain steps with the learning rate, without weight decay.");
}

void describeDecay(config::Group<OptimConfig> &group)
{
    group.field("weight_decay", &OptimConfig::weightDecay)
        .label("Weight decay")
        .range(0, 1)
        .help("Pull of the weights towards zero, added to their gradients; with AdamW, taken from the weights themselves.");
    group.field("weight_decay_schedule", &OptimConfig::weightDecaySchedule)
        .label("Weight decay over the run")
        .choice("constant", "Constant", "stays as it is")
        .choice("cosine", "Cosine", "goes to another value along half a cosine, as with DINO and MSN")
        .advanced()
        .help("How the weight decay changes, step by step.");
    group.field("weight_decay_end", &OptimConfig::weightDecayEnd)
        .label("Weight decay at the end")
        .when({"optim.weight_decay_schedule", "cosine"})
        .range(0, 1)
        .advanced()
        .help("Where the cosine of the weight decay ends.");
    group.field("exclude_bias_norm_wd", &OptimConfig::excludeBiasNormWd)
        .label("No decay on biases and norms")
        .when(only({"sgd", "adam", "adamw"}))
        .advanced()
        .help("Leaves biases and the weights of norms out of weight decay.");
}

void describeSchedule(config::Group<OptimConfig> &group)
{
    group.field("schedule", &OptimConfig::schedule)
        .label("Schedule")
        .choice("cosine", "Cosine", "falls over the run along half a cosine")
        .choice("constant", "Constant", "stays where the warm-up ends")
        .help("How the learning rate changes, step by step.");
    group.field("warmup_epochs", &OptimConfig::warmupEpochs)
        .label("Warm-up")
        .unit("epochs")
        .atLeast(0)
        .help("The learning rate first rises in even steps over so many epochs.");
    group.field("end_lr", &OptimConfig::endLr)
        .label("Last learning rate")
        .unit("of the peak")
        .when({"optim.schedule", "cosine"})
        .range(0, 1)
        .advanced()
        .help("Where the cosine ends.");
}

} // namespace

void OptimConfig::describe(config::Group<OptimConfig> &group)
{
    group.field("name", &OptimConfig::name)
        .label("Optimiser")
        .choice("sgd", "SGD", "Stochastic gradient descent with momentum")
        .choice("adam", "Adam", "Every weight at a rate of its own; decay counts as gradient")
        .choice("adamw", "AdamW", "Adam with weight decay apart from the gradient: what transformers are trained with")
        .choice("lars", "LARS", "SGD at a rate of its own for every layer: for batches of thousands")
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
    describeUpdate(group);
    describeDecay(group);
    describeSchedule(group);
}

double scaledLearningRate(const OptimConfig &config, std::int64_t globalBatch)
{
    if (config.lrReferenceBatch == 0) return config.baseLr;
    return config.baseLr * double(globalBatch) / double(config.lrReferenceBatch);
}

} // namespace parallax::optim
