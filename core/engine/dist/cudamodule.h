// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace c10d {
class Backend;
class Store;
} // namespace c10d

/// Everything that needs CUDA lives in one shared object, parallax-cuda.so, which the worker opens at run time: one worker
/// serves machines with and without a GPU. The module is built with the same compiler and LibTorch as the worker; opening it
/// also loads LibTorch's CUDA libraries, from which moment torch::Device("cuda:0") works everywhere.
namespace parallax::dist {

constexpr int cudaInterfaceVersion = 1;

/// Bytes. `allocated` and `reserved` are this process's allocator; `deviceUsed` and `deviceTotal` the whole device's (NVML),
/// with what other processes hold.
struct CudaMemory {
    std::uint64_t allocated = 0, reserved = 0, deviceUsed = 0, deviceTotal = 0;
};

/// What the module offers. Devices are numbered as the process sees them (after CUDA_VISIBLE_DEVICES), from 0.
/// The functions throw c10::Error or std::runtime_error, except where a failure value is named.
struct CudaInterface {
    int version;          ///< cudaInterfaceVersion that the module was built with
    int (*deviceCount)(); ///< 0: no usable device or no driver; never throws
    /// Why there is no device ("CUDA driver version is insufficient …"), zero-terminated; empty when there is one.
    void (*problem)(char *buffer, std::size_t size);
    void (*deviceName)(int device, char *buffer, std::size_t size); ///< "NVIDIA H200", zero-terminated
    bool (*memory)(int device, CudaMemory *memory);                 ///< false: not known; never throws
    void (*setDevice)(int device);                                  ///< for the calling thread
    void (*synchronize)(int device);                                ///< waits for all work queued on the device
    /// NCCL between `world` ranks, bound to loopback where `loopback` is set: all ranks are on this machine.
    c10::intrusive_ptr<c10d::Backend> (*makeNccl)(const c10::intrusive_ptr<c10d::Store> &store, int rank, int world,
                                                  int device, double timeoutSeconds, bool loopback);
};

/// The symbol that the module exports: extern "C" const parallax::dist::CudaInterface *parallax_cuda_interface().
constexpr const char *cudaInterfaceSymbol = "parallax_cuda_interface";

/// Opens parallax-cuda.so beside the running executable, once a process; later calls return the first call's answer.
/// Null when there is none or it does not load: `error` then says so in plain words.
const CudaInterface *openCudaModule(std::string &error);

} // namespace parallax::dist
