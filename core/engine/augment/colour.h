// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/colour.h"

#include <torch/torch.h>

/// Operations of data/transforms.h on batches: float32 [n, 3, h, w] in 0 … 1, on any device.
namespace parallax::augment {

/// One operation, with a value an image: `value` [n], empty for Gray.
torch::Tensor applyColour(const torch::Tensor &x, data::transforms::ColourOperation operation, const torch::Tensor &value);

/// Gaussian blur of square images. sigma, radius: float32 [n]; radius whole numbers below the images' size. Edges are mirrored
/// without repeating the edge pixel.
torch::Tensor blur(const torch::Tensor &x, const torch::Tensor &sigma, const torch::Tensor &radius);

} // namespace parallax::augment
