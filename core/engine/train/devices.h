// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/train/trainconfig.h"

#include "core/base/result.h"

#include <string>
#include <vector>

namespace parallax::train {

/// What this machine has. CUDA devices are numbered as CUDA_VISIBLE_DEVICES leaves them visible.
struct Machine {
    int cores = 1;
    int cudaDevices = 0;
    std::string cudaError; ///< why there are no CUDA devices; empty when there are some
    static Machine probe();
    /// Cores that this process may use: a container or taskset may leave fewer than the machine has.
    static int usableCores();
};

/// Which rank computes where.
struct DeviceMap {
    std::vector<std::string> devices; ///< rank r computes on devices[r]: "cpu", "cuda:0"
    int threadsPerRank = 1;           ///< compute threads on the CPU
    int loaderThreads = 1;
    std::vector<std::string> warnings;
};

/// The map that `config` asks for on `machine`, all ranks on this machine. Errors: CUDA that is not there, devices beyond the
/// last, doubled or more ranks than devices; each says how many there are and the map that would be used.
Result<DeviceMap> mapDevices(const DistributedConfig &config, std::int64_t threads, std::int64_t loaderThreads,
                             const Machine &machine);

/// Compute threads of one of `ranksHere` ranks on a machine: `wanted`, or an even share of the cores, at least one.
int threadsFor(std::int64_t wanted, int cores, int ranksHere);

} // namespace parallax::train
