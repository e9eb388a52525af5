// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/backbone.h"

#include <array>

namespace parallax::nn {

struct ConvNextOptions {
    std::array<std::int64_t, 4> blocks{3, 3, 9, 3};
    std::array<std::int64_t, 4> channels{96, 192, 384, 768};
    double dropPath = 0; ///< of the last block; see dropPathRates
};

/// ConvNeXt (Liu et al. 2022, arXiv:2201.03545) with torchvision's names in the state dict, up to and with the layer norm
/// behind the average pooling, which torchvision counts to its classifier: [n, 3, s, s] → [n, channels[3]].
Backbone makeConvNext(const ConvNextOptions &options);

} // namespace parallax::nn
