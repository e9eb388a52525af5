// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/eval/probe.h"
#include "core/engine/nn/weights.h"
#include "core/engine/train/labelled.h"
#include "core/engine/train/trainednetwork.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// What an evaluation stores.
namespace parallax::train {

/// All that an evaluation was made of.
struct EvalCase {
    const TrainedNetwork &network;
    const LabelledSplits &splits;
    const eval::LabelledData &data;
    const eval::ProbeConfig &probe;
    nlohmann::ordered_json settings; ///< probe's, resolved
    std::string weights;             ///< file of the backbone's weights; empty: the checkpoint's
    std::string device;
    int threads = 1;
    double seconds = 0;
};

/// One that is told on stderr: {"epoch", "epochs", "curves": [{"lr", "loss", "top1", "top5"} or {"lr", "diverged": true}]}.
nlohmann::ordered_json progressDocument(const std::vector<eval::RateCurve> &curves, std::int64_t epochs);

/// The document beside the number: checkpoint, data and split, protocol, curves, best and last, accuracy by class.
nlohmann::ordered_json evalDocument(const EvalCase &of, const eval::ProbeResult &result);

/// What was trained: a linear layer's weight and bias; after fine-tuning the whole network with it, by torchvision's names.
nn::NamedTensors trainedWeights(const EvalCase &of, const eval::ProbeResult &result);

} // namespace parallax::train
