// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/devices.h"

#include "core/base/text.h"
#include "core/engine/dist/cudamodule.h"

#include <algorithm>
#include <set>

#include <sched.h>

namespace parallax::train {
namespace {

std::string available(const Machine &machine)
{
    if (machine.cudaDevices == 0)
        return "there is no CUDA device" + (machine.cudaError.empty() ? std::string() : " (" + machine.cudaError + ")");
    if (machine.cudaDevices == 1) return "there is 1 visible CUDA device, number 0";
    return "there are " + std::to_string(machine.cudaDevices) + " visible CUDA devices, numbers 0 to " +
        std::to_string(machine.cudaDevices - 1);
}

/// "rank 0 on cuda:0, rank 1 on cuda:1", shortened after eight.
std::string describe(const std::vector<std::string> &devices)
{
    std::vector<std::string> parts;
    for (std::size_t rank = 0; rank < devices.size() && rank < 8; ++rank)
        parts.push_back("rank " + std::to_string(rank) + " on " + devices[rank]);
    if (devices.size() > 8) parts.push_back("… " + std::to_string(devices.size()) + " ranks");
    return text::join(parts, ", ");
}

/// What would run if nothing but the machine decided.
std::string fallback(const Machine &machine)
{
    std::vector<std::string> devices;
    for (int device = 0; device < machine.cudaDevices; ++device) devices.push_back("cuda:" + std::to_string(device));
    if (devices.empty()) devices.push_back("cpu");
    return "With automatic devices the map would be: " + describe(devices);
}

Result<std::vector<std::string>> cudaDevices(const DistributedConfig &config, const Machine &machine)
{
    std::vector<std::int64_t> numbers = config.devices;
    if (numbers.empty()) {
        const std::int64_t ranks = config.ranks ? config.ranks : machine.cudaDevices;
        for (std::int64_t device = 0; device < ranks; ++device) numbers.push_back(device);
    }
    if (machine.cudaDevices == 0)
        return Error{"CUDA is asked for, but " + available(machine), "distributed.device", fallback(machine)};
    if (config.ranks && config.ranks != std::int64_t(numbers.size()))
        return Error{std::to_string(config.ranks) + " ranks, but " + std::to_string(numbers.size()) + " devices are listed",
                     "distributed.ranks", "Set ranks to 0, or list one device a rank"};
    std::set<std::int64_t> seen;
    std::vector<std::string> devices;
    for (const std::int64_t number : numbers) {
        if (config.devices.empty() && number >= machine.cudaDevices)
            return Error{std::to_string(numbers.size()) + " ranks, but " + available(machine), "distributed.ranks",
                         "A device takes one rank. " + fallback(machine)};
        if (number < 0 || number >= machine.cudaDevices)
            return Error{"device " + std::to_string(number) + " is not there: " + available(machine), "distributed.devices",
                         fallback(machine)};
        if (!seen.insert(number).second)
            return Error{"device " + std::to_string(number) + " is listed twice; " + available(machine),
                         "distributed.devices", "A device takes one rank. " + fallback(machine)};
        devices.push_back("cuda:" + std::to_string(number));
    }
    return devices;
}

} // namespace

int Machine::usableCores()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::max(1, CPU_COUNT(&set));
}

Machine Machine::probe()
{
    Machine machine;
    machine.cores = usableCores();
    if (const auto *cuda = dist::openCudaModule(machine.cudaError)) {
        machine.cudaDevices = cuda->deviceCount();
        char problem[512] = "";
        if (machine.cudaDevices == 0) cuda->problem(problem, sizeof problem);
        machine.cudaError = problem;
    }
    return machine;
}

int threadsFor(std::int64_t wanted, int cores, int ranksHere)
{
    return wanted > 0 ? int(wanted) : std::max(1, cores / std::max(1, ranksHere));
}

Result<DeviceMap> mapDevices(const DistributedConfig &config, std::int64_t threads, std::int64_t loaderThreads,
                             const Machine &machine)
{
    DeviceMap map;
    if (config.device == "cpu" && !config.devices.empty())
        return Error{"CUDA devices are listed, but distributed.device is cpu", "distributed.devices",
                     "Empty the list, or set distributed.device to cuda"};
    const bool cuda =
        config.device == "cuda" || !config.devices.empty() || (config.device == "auto" && machine.cudaDevices > 0);
    if (cuda) {
        auto devices = cudaDevices(config, machine);
        if (!devices) return devices.error();
        map.devices = *devices;
    } else {
        map.devices.assign(std::size_t(std::max<std::int64_t>(1, config.ranks)), "cpu");
        if (config.device == "auto") map.warnings.push_back("Training on the CPU: " + available(machine));
    }
    const int ranks = int(map.devices.size());
    map.threadsPerRank = threadsFor(threads, machine.cores, ranks);
    map.loaderThreads = threadsFor(loaderThreads, machine.cores, ranks);
    if (!cuda && std::int64_t(ranks) * map.threadsPerRank > machine.cores)
        map.warnings.push_back(std::to_string(ranks) + " ranks with " + std::to_string(map.threadsPerRank) +
                               " compute thread" + (map.threadsPerRank == 1 ? "" : "s") + " each share " +
                               std::to_string(machine.cores) +
                               " cores: more ranks than cores make training slower, not faster");
    return map;
}

} // namespace parallax::train
