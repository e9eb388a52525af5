// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/loader.h"

#include <torch/torch.h>

#include <vector>

namespace parallax::augment {

/// Makes the views of batches whose images are only drawn (data::Loader::Options::drawOnly) as tensor operations on `device`, all
/// images of a batch at once. The draws are the loader's: the same crops, factors and order as of views made by loader threads,
/// and the same pixels but for rounding (1e-5 of the range; where rounding decides, at the threshold of solarising or between two
/// equal channels, a pixel may differ by more).
///
/// The crop, its resize and the flip are two matrix products with a matrix an image, and so is the blur: resizing is linear, and
/// apart along rows and columns.
class DeviceViews
{
public:
    DeviceViews(std::vector<data::ViewSpec> specs, torch::Device device);

    /// A view each: float32 [n, 3, size, size], normalised, on the device. Copies from pinned memory to CUDA devices are
    /// queued in the current stream; the batch may be dropped at once.
    std::vector<torch::Tensor> make(const data::Batch &batch) const;

private:
    torch::Tensor packed(const data::Batch &batch, std::int64_t begin, std::int64_t end) const;
    torch::Tensor view(const torch::Tensor &images, const data::Batch &batch, std::size_t v, std::int64_t begin) const;
    torch::Tensor onDevice(const std::vector<float> &values) const;

    std::vector<data::ViewSpec> m_specs;
    torch::Device m_device;
};

} // namespace parallax::augment
