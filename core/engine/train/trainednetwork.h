// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/train/arguments.h"
#include "core/engine/train/checkpoint.h"
#include "core/engine/train/experiment.h"

#include <memory>
#include <string>
#include <vector>

namespace parallax::train {

/// The run that --run names. Throws Failure for a folder that is none.
runs::RunFolder openRun(const Arguments &arguments);

/// A run's network with its weights, on the CPU in fp32, and where they are from.
struct TrainedNetwork {
    Experiment experiment;
    std::shared_ptr<methods::Method> method;
    Progress progress; ///< of the checkpoint
    std::vector<std::string> warnings;
};

/// The network of the checkpoint made at the end of epoch --epoch, else of the newest one that loads; with --weights its backbone is
/// that file's instead. Throws Failure: no such checkpoint, weights of another network.
TrainedNetwork loadNetwork(const runs::RunFolder &run, const Arguments &arguments);

} // namespace parallax::train
