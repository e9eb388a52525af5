// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/schema.h"
#include "core/engine/data/dataconfig.h"
#include "core/engine/eval/evalconfig.h"
#include "core/engine/methods/method.h"
#include "core/engine/nn/backbone.h"
#include "core/engine/optim/optimconfig.h"
#include "core/engine/train/trainconfig.h"

#include <memory>
#include <optional>
#include <string>

namespace parallax::train {

/// Every group of settings, each declared beside the code that uses it, in the order forms show them.
config::Schema buildSchema();

/// One experiment's settings, read from a resolved config.
struct Experiment {
    data::DataConfig data;
    data::AugmentConfig augment;
    nn::BackboneConfig backbone;
    optim::OptimConfig optim;
    TrainConfig train;
    DistributedConfig distributed;
    eval::EvalConfig eval;
    CheckpointConfig checkpoint;
    OutputConfig output;
    std::string method;
    config::Json config; ///< what all of the above was read from

    /// Errors: everything Schema::check finds, the unknown method among it. Missing fields take their defaults.
    static Result<Experiment> fromJson(const config::Json &config);
    static Result<Experiment> fromFile(const std::string &file);

    /// Of weights and losses.
    torch::Dtype dtype() const { return train.precision == "fp64" ? torch::kFloat64 : torch::kFloat32; }

    /// Half precision that networks compute in; none: as their weights.
    std::optional<torch::Dtype> mixedPrecision() const;

    const methods::MethodInfo &methodInfo() const;
    /// Whether the loss sees the images of all ranks: as set, and always for a method that compares no images.
    bool gathers() const { return distributed.gather || !methodInfo().usesGather; }

    /// The method with its networks, weights drawn from train.seed alone, on the CPU in fp32.
    std::shared_ptr<methods::Method> makeMethod() const;
};

} // namespace parallax::train
