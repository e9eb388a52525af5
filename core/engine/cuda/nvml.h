// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace parallax::cuda {

/// Bytes of a whole device, whoever holds them.
struct DeviceMemory {
    std::uint64_t used, total;
};

/// NVML's figures for a CUDA device (numbered as this process sees them). The library comes with the driver and is opened
/// at the first call; without it, or where it does not answer: nothing.
std::optional<DeviceMemory> nvmlMemory(int device);

} // namespace parallax::cuda
