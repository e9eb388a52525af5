// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/cudamodule.h"

#include "core/engine/cuda/nvml.h"

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace parallax::cuda {
namespace {

void copyText(const char *text, char *buffer, std::size_t size)
{
    if (size == 0) return;
    const std::size_t length = std::min(std::strlen(text), size - 1);
    std::memcpy(buffer, text, length);
    buffer[length] = '\0';
}

int deviceCount()
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

void problem(char *buffer, std::size_t size)
{
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    copyText(status == cudaSuccess ? (count > 0 ? "" : "no CUDA device is visible") : cudaGetErrorString(status), buffer,
             size);
}

void deviceName(int device, char *buffer, std::size_t size)
{
    cudaDeviceProp properties{};
    if (const cudaError_t status = cudaGetDeviceProperties(&properties, device); status != cudaSuccess)
        throw std::runtime_error(std::string("cannot ask CUDA device ") + std::to_string(device) +
                                 " for its name: " + cudaGetErrorString(status));
    copyText(properties.name, buffer, size);
}

/// The allocator's figures for this process; NVML's for the device, else the runtime's own (which needs a context).
bool memory(int device, dist::CudaMemory *memory)
{
    try {
        const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
        constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
        memory->allocated = static_cast<std::uint64_t>(stats.allocated_bytes[all].current);
        memory->reserved = static_cast<std::uint64_t>(stats.reserved_bytes[all].current);
    } catch (const std::exception &) { // the allocator is not in use on this device yet
        memory->allocated = memory->reserved = 0;
    }
    if (const auto whole = nvmlMemory(device)) {
        memory->deviceUsed = whole->used;
        memory->deviceTotal = whole->total;
        return true;
    }
    int current = 0;
    std::size_t free = 0, total = 0;
    if (cudaGetDevice(&current) != cudaSuccess || cudaSetDevice(device) != cudaSuccess) return false;
    const bool known = cudaMemGetInfo(&free, &total) == cudaSuccess;
    cudaSetDevice(current);
    if (!known) return false;
    memory->deviceUsed = total - free;
    memory->deviceTotal = total;
    return true;
}

void setDevice(int device) { c10::cuda::set_device(static_cast<c10::DeviceIndex>(device)); }

void synchronize(int device)
{
    int current = 0;
    C10_CUDA_CHECK(cudaGetDevice(&current));
    C10_CUDA_CHECK(cudaSetDevice(device));
    C10_CUDA_CHECK(cudaDeviceSynchronize());
    C10_CUDA_CHECK(cudaSetDevice(current));
}

c10::intrusive_ptr<c10d::Backend> makeNccl(const c10::intrusive_ptr<c10d::Store> &store, int rank, int world, int device,
                                           double timeoutSeconds, bool loopback)
{
    // NCCL's own bootstrap sockets follow this variable; "=lo" is that interface and no other. A value the user set stays.
    if (loopback) setenv("NCCL_SOCKET_IFNAME", "=lo", 0);
    setDevice(device);
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeoutSeconds * 1000));
    auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, world, options);
    // Binds the group to its device at once, instead of guessing from the first tensor.
    group->setBoundDeviceId(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device)));
    return group;
}

} // namespace
} // namespace parallax::cuda

extern "C" __attribute__((visibility("default"))) const parallax::dist::CudaInterface *parallax_cuda_interface()
{
    using namespace parallax;
    static const dist::CudaInterface interface {
        dist::cudaInterfaceVersion, cuda::deviceCount, cuda::problem, cuda::deviceName, cuda::memory, cuda::setDevice,
            cuda::synchronize, cuda::makeNccl
    };
    return &interface;
}
