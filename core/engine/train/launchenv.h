// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/train/devices.h"
#include "core/engine/train/trainer.h"

#include <functional>
#include <optional>
#include <string>

namespace parallax::train {

/// Reads one environment variable; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string &)>;
Environment processEnvironment();

/// A rank as torchrun (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT) or Slurm (SLURM_PROCID,
/// SLURM_NTASKS, SLURM_LOCALID, SLURM_NTASKS_PER_NODE; MASTER_ADDR or SLURM_LAUNCH_NODE_IPADDR) describe it. The local rank
/// numbers the CUDA device, unless `config` asks for the CPU. An Error names the variable that is missing or wrong.
Result<Launch> launchFromEnvironment(const runs::RunFolder &run, const DistributedConfig &config, const Machine &machine,
                                     const Environment &environment);

} // namespace parallax::train
