// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/backbone.h"

#include <array>

namespace parallax::nn {

/// Residual network (He et al. 2016, arXiv:1512.03385; with the stride in the 3×3 convolution of a bottleneck), up to and
/// with the global average pooling. `blocks`: residual blocks of the four layers. Stem and width as BackboneConfig says:
/// layer i has round(64 · width) · 2^i channels, four times that behind bottlenecks.
Backbone makeResNet(const std::array<int, 4> &blocks, bool bottleneck, const BackboneConfig &config);

} // namespace parallax::nn
