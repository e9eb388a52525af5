// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/backbone.h"

#include <array>

namespace parallax::nn {

struct ResNetOptions {
    std::array<int, 4> blocks{2, 2, 2, 2}; ///< residual blocks of the four layers
    bool bottleneck = false;
    std::int64_t base = 64; ///< channels of the stem; layer i has base · 2^i, four times that behind bottlenecks
    double inner = 1;       ///< factor on the channels of a bottleneck's 3×3 convolution: 2 in the wide networks
    bool imagenetStem = true;
    bool stemRelu = true; ///< ReLU behind the stem's batch norm
    bool heInit = true;   ///< else convolutions start as PyTorch makes them
    bool zeroInitResidual = false;
    double dropPath = 0;                   ///< of the last block; see dropPathRates
    const char *projection = "downsample"; ///< torchvision's name of a block's projection; lightly's is "shortcut"
    /// Side of the mean pooling's window, and the pooled map is flattened; 0: over the whole map.
    std::int64_t pool = 0;
};

/// Residual network (He et al. 2016, arXiv:1512.03385; with the stride in the 3×3 convolution of a bottleneck; wide: Zagoruyko
/// and Komodakis 2016, arXiv:1605.07146), up to and with the average pooling: [n, 3, s, s] → [n, base · 8 (· 4)].
Backbone makeResNet(const ResNetOptions &options);

/// The same with stem, width and start as `config` says: base = round(64 · width).
Backbone makeResNet(const std::array<int, 4> &blocks, bool bottleneck, double inner, const BackboneConfig &config);

} // namespace parallax::nn
