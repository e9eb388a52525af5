// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"
#include "core/engine/nn/vit.h"

#include <torch/torch.h>

#include <string>

/// What methods share that mask patches of a vision transformer.
namespace parallax::methods {

/// The backbone as a transformer. Throws std::runtime_error, by the method's label, for another network.
nn::VitImpl &visionTransformer(const nn::Backbone &backbone, const std::string &method);

struct PatchChoice {
    torch::Tensor kept, masked; ///< [n, k] and [n, patches - k] int64: places of patches, each row in rising order
};

/// Patches to keep of each image of [n, 3, h, w], `share` of them and at least one, drawn for the global batch so that an
/// image's choice does not depend on the number of ranks.
PatchChoice randomPatches(const nn::VitImpl &vit, const torch::Tensor &images, double share, const dist::Ranks &all);

} // namespace parallax::methods
