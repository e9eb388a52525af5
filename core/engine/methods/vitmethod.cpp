// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/methods/vitmethod.h"

#include "core/engine/methods/parts.h"

#include <cmath>
#include <stdexcept>

namespace parallax::methods {

nn::VitImpl &visionTransformer(const nn::Backbone &backbone, const std::string &method)
{
    if (auto *vit = dynamic_cast<nn::VitImpl *>(backbone.get())) return *vit;
    throw std::runtime_error(method +
                             " masks patches, which needs a vision transformer: set backbone.name to vit_tiny, "
                             "vit_small or vit_base");
}

PatchChoice randomPatches(const nn::VitImpl &vit, const torch::Tensor &images, double share, const dist::Ranks &all)
{
    const std::int64_t patches = vit.patchCount(images.size(2), images.size(3));
    const std::int64_t keep = std::clamp<std::int64_t>(std::llround(share * double(patches)), 1, patches);
    const torch::Tensor order = randomRows(images, images.size(0), patches, all).argsort(std::int64_t(1));
    return {std::get<0>(order.narrow(1, 0, keep).sort(1)), std::get<0>(order.narrow(1, keep, patches - keep).sort(1))};
}

} // namespace parallax::methods
