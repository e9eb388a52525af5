// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/train/reporter.h"
#include "core/runs/runfolder.h"

#include <string>

namespace parallax::train {

/// One rank of a launch.
struct Launch {
    runs::RunFolder run;
    int rank = 0, world = 1;
    int ranksHere = 1;          ///< ranks of the launch on this machine: they share its cores
    std::string store;          ///< rendezvous: a file, new for every launch, or tcp://host:port
    std::string device = "cpu"; ///< "cpu", "cuda:0"
    bool resume = false;        ///< go on from the newest checkpoint that loads
    int commandFd = -1;         ///< where commands come from; -1: nowhere (another launcher than ours)
};

enum class Outcome { Finished, Stopped };

/// Trains the run's config.json to its end, or to a stop, and tells `reporter` how it goes. Throws Failure, or what LibTorch
/// throws.
Outcome train(const Launch &launch, Reporter &reporter);

} // namespace parallax::train
