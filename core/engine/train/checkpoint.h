// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/nn/weights.h"
#include "core/engine/train/lossscaler.h"
#include "core/runs/runfolder.h"
#include "core/runs/safetensors.h"

#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include <string>
#include <vector>

/// A run's checkpoints: step-N.safetensors holds the tensors ("model.…", "optim.…"), step-N.json where the run was. The JSON is
/// written last: a checkpoint without it does not count.
namespace parallax::train {

/// Where a run was when a checkpoint was made.
struct Progress {
    std::int64_t step = 0;    ///< optimiser steps done
    std::int64_t epoch = 0;   ///< whole epochs done
    std::int64_t batch = 0;   ///< batches done of the running epoch
    double untrainedKnn = -1; ///< top-1 of the untrained network; below 0: not measured
    double bestKnn = -1;
    LossScaler::State scaling; ///< of a run in fp16
    nlohmann::ordered_json toJson() const;
    static Result<Progress> fromJson(const nlohmann::ordered_json &json);
};

struct Checkpoint {
    Progress progress;
    runs::SafetensorsFile tensors; ///< of the method under "model.", of the optimiser under "optim."
};

constexpr const char *kModelPrefix = "model.";
constexpr const char *kOptimPrefix = "optim.";

/// Writes both files, each whole or not at all, then deletes checkpoints older than the `keepLast` newest. Returns the bytes
/// written. After an Error the earlier checkpoints are untouched; a full disk is named so, with what was needed and is free.
Result<std::uint64_t> saveCheckpoint(const runs::RunFolder &run, const Progress &progress, const nn::NamedTensors &tensors,
                                     std::int64_t keepLast);
/// Errors: unreadable or cut files, tensors that are not finite.
Result<Checkpoint> readCheckpoint(const runs::RunFolder::Checkpoint &files);
/// The newest checkpoint that reads well; `warnings` gets a line for each newer one that does not. None: an Error.
Result<Checkpoint> readNewest(const runs::RunFolder &run, std::vector<std::string> &warnings);

/// 16 hexadecimal digits that follow from the names and bytes of parameters and buffers (FNV-1a, 64 bit).
std::string digest(const torch::nn::Module &module);

} // namespace parallax::train
