// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/vit.h"

namespace parallax::nn {

struct MaeDecoderOptions {
    std::int64_t in = 768, dim = 512, layers = 1, heads = 16;
    std::int64_t patchSize = 16, imageSize = 224;
};

/// The decoder of a masked autoencoder (He et al. 2022, arXiv:2111.06377): a small transformer that fills in the patches the
/// encoder did not see.
class MaeDecoderImpl : public torch::nn::Module
{
public:
    /// Throws c10::Error when the heads do not divide the width.
    explicit MaeDecoderImpl(const MaeDecoderOptions &options);

    /// encoded: [n, 1 + k, in], class token and kept patches; kept, masked: [n, k] and [n, m] int64, their places.
    /// Returns the masked patches' pixels [n, m, 3 · patchSize²], in the order of nn::patchesOf.
    torch::Tensor forward(const torch::Tensor &encoded, const torch::Tensor &kept, const torch::Tensor &masked)
    {
        return inPrecision(encoded, [&] { return compute(encoded, kept, masked); });
    }

private:
    torch::Tensor compute(const torch::Tensor &encoded, const torch::Tensor &kept, const torch::Tensor &masked);

    torch::nn::Linear m_embed = nullptr, m_predict = nullptr;
    torch::Tensor m_maskToken, m_positions; ///< [1, 1, dim]; [1, 1 + patches, dim], fixed
    std::vector<VitBlock> m_blocks;
    torch::nn::LayerNorm m_norm = nullptr;
};
TORCH_MODULE(MaeDecoder);

/// Sines and cosines of a grid of side × side places: [1, 1 + side², dim], the first row (class token) zero; dim divisible
/// by 4. Half of the dimensions tell the row, half the column.
torch::Tensor sineCosinePositions(std::int64_t side, std::int64_t dim);

/// [n, 3, h, w] → [n, patches, size · size · 3]: pixels of each patch row by row, channels last.
torch::Tensor patchesOf(const torch::Tensor &images, std::int64_t size);

} // namespace parallax::nn
