// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cuda/nvml.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nvml.h>

namespace parallax::cuda {
namespace {

/// The few functions of NVML that are used, found by name: libnvidia-ml.so.1 is the driver's, and absent without one.
struct Nvml {
    decltype(&nvmlInit_v2) init = nullptr;
    decltype(&nvmlDeviceGetHandleByPciBusId_v2) byBusId = nullptr;
    decltype(&nvmlDeviceGetMemoryInfo) memoryInfo = nullptr;
    bool ready = false;

    Nvml()
    {
        void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library) return;
        init = reinterpret_cast<decltype(init)>(dlsym(library, "nvmlInit_v2"));
        byBusId = reinterpret_cast<decltype(byBusId)>(dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
        memoryInfo = reinterpret_cast<decltype(memoryInfo)>(dlsym(library, "nvmlDeviceGetMemoryInfo"));
        ready = init && byBusId && memoryInfo && init() == NVML_SUCCESS;
    }
};

} // namespace

std::optional<DeviceMemory> nvmlMemory(int device)
{
    static const Nvml nvml;
    char busId[32] = {};
    nvmlDevice_t handle = nullptr;
    nvmlMemory_t memory{};
    // By bus id: NVML numbers physical devices, CUDA those that CUDA_VISIBLE_DEVICES leaves.
    if (!nvml.ready || cudaDeviceGetPCIBusId(busId, sizeof busId, device) != cudaSuccess ||
        nvml.byBusId(busId, &handle) != NVML_SUCCESS || nvml.memoryInfo(handle, &memory) != NVML_SUCCESS)
        return {};
    return DeviceMemory{memory.used, memory.total};
}

} // namespace parallax::cuda
