// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/cudamodule.h"

#include "core/base/paths.h"

#include <dlfcn.h>

#include <filesystem>

namespace parallax::dist {

namespace {

struct Opened {
    const CudaInterface *interface = nullptr;
    std::string error;
};

Opened open()
{
    const auto path = paths::executableDir() / "parallax-cuda.so";
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return {nullptr,
                "This build has no CUDA module: " + path.string() + " does not exist. Build it with: ./dev build --cuda"};
    // Global, so that the kernels LibTorch registers are the ones the worker's own LibTorch finds.
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!handle) return {nullptr, "The CUDA module does not load: " + std::string(dlerror())};
    using Entry = const CudaInterface *(*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(handle, cudaInterfaceSymbol));
    if (!entry) return {nullptr, path.string() + " is not a CUDA module of Parallax: it lacks " + cudaInterfaceSymbol};
    const CudaInterface *interface = entry();
    if (!interface || interface->version != cudaInterfaceVersion)
        return {nullptr, path.string() + " belongs to another version of Parallax. Build it again with: ./dev build --cuda"};
    return {interface, {}};
}

} // namespace

const CudaInterface *openCudaModule(std::string &error)
{
    static const Opened opened = open();
    error = opened.error;
    return opened.interface;
}

} // namespace parallax::dist
