// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/launchenv.h"

#include "core/base/text.h"
#include "core/engine/train/failure.h"

#include <cstdlib>

namespace parallax::train {
namespace {

/// The first of `names` that is set, read as a whole number.
Result<std::int64_t> number(const Environment &environment, const std::vector<std::string> &names,
                            std::optional<std::int64_t> fallback = {})
{
    for (const auto &name : names) {
        const auto value = environment(name);
        if (!value) continue;
        const auto parsed = text::parseInt(*value);
        if (!parsed || *parsed < 0)
            return Error{name + " is " + text::printable(*value) + ", not a whole number", "environment", {}};
        return *parsed;
    }
    if (fallback) return *fallback;
    return Error{"neither --rank nor " + text::join(names, " or ") + " is set", "environment",
                 "Start through parallax train, torchrun --no-python or srun"};
}

Result<std::string> rendezvous(const Environment &environment)
{
    auto host = environment("MASTER_ADDR");
    if (!host) host = environment("SLURM_LAUNCH_NODE_IPADDR");
    if (!host) return Error{"MASTER_ADDR is not set", "environment", "Set it to the address of the machine of rank 0"};
    const auto port = number(environment, {"MASTER_PORT"}, 29500);
    if (!port) return port.error();
    return "tcp://" + *host + ":" + std::to_string(*port);
}

} // namespace

Environment processEnvironment()
{
    return [](const std::string &name) -> std::optional<std::string> {
        const char *value = std::getenv(name.c_str());
        if (!value) return {};
        return value;
    };
}

Result<Launch> launchFromEnvironment(const runs::RunFolder &run, const DistributedConfig &config, const Machine &machine,
                                     const Environment &environment)
{
    const auto rank = number(environment, {"RANK", "SLURM_PROCID"});
    const auto world = number(environment, {"WORLD_SIZE", "SLURM_NTASKS"});
    const auto localRank = number(environment, {"LOCAL_RANK", "SLURM_LOCALID"}, 0);
    const auto ranksHere = number(environment, {"LOCAL_WORLD_SIZE", "SLURM_NTASKS_PER_NODE"}, 1);
    for (const auto *value : {&rank, &world, &localRank, &ranksHere})
        if (!*value) return value->error();
    if (*rank >= *world)
        return Error{"rank " + std::to_string(*rank) + " of a world of " + std::to_string(*world), "environment", {}};
    Launch launch{run};
    launch.rank = int(*rank);
    launch.world = int(*world);
    launch.ranksHere = int(std::max<std::int64_t>(1, *ranksHere));
    if (launch.world > 1) {
        auto store = rendezvous(environment);
        if (!store) return store.error();
        launch.store = *store;
    }
    const bool cuda = config.device == "cuda" || (config.device == "auto" && machine.cudaDevices > 0);
    if (cuda && *localRank >= machine.cudaDevices)
        return Error{"local rank " + std::to_string(*localRank) + " has no CUDA device of its own: there are " +
                         std::to_string(machine.cudaDevices),
                     "distributed.device", "Start at most one rank a device, or set distributed.device to cpu"};
    if (cuda) launch.device = "cuda:" + std::to_string(*localRank);
    return launch;
}

} // namespace parallax::train
