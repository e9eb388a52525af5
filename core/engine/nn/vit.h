// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/backbone.h"
#include "core/engine/nn/droppath.h"

#include <optional>
#include <vector>

namespace parallax::nn {

struct VitOptions {
    std::int64_t imageSize = 224; ///< that the positional embedding is made for
    std::int64_t patchSize = 16;
    std::int64_t layers = 12, heads = 12, dim = 768, mlpDim = 3072;
    double dropPath = 0; ///< of the last layer; see dropPathRates
};

/// A block of a vision transformer: attention and a perceptron, each behind a layer norm and added to its input.
/// [n, t, dim] → [n, t, dim]. `depth`, where there is one, may drop both: they are its branches `branch` and `branch` + 1.
class VitBlockImpl : public torch::nn::Module
{
public:
    VitBlockImpl(std::int64_t heads, std::int64_t dim, std::int64_t mlpDim, DropPath depth = nullptr,
                 std::size_t branch = 0);
    torch::Tensor forward(const torch::Tensor &x);

private:
    torch::Tensor attend(const torch::Tensor &x);

    torch::Tensor kept(const torch::Tensor &x, std::size_t branch) const;

    std::int64_t m_heads;
    DropPath m_depth; ///< the network's own
    std::size_t m_branch;
    torch::Tensor m_inWeight, m_inBias; ///< [3 · dim, dim], [3 · dim]: query, key, value
    torch::nn::Linear m_out = nullptr, m_mlpIn = nullptr, m_mlpOut = nullptr;
    torch::nn::LayerNorm m_attentionNorm = nullptr, m_mlpNorm = nullptr;
};
TORCH_MODULE(VitBlock);

/// Vision transformer (Dosovitskiy et al. 2021, arXiv:2010.11929) with torchvision's names in the state dict. Its features are
/// the class token behind the last layer norm. Images of another size than the options' are taken as long as patches cover
/// them: the positional embedding is then interpolated.
class VitImpl final : public BackboneImpl
{
public:
    explicit VitImpl(const VitOptions &options);

    /// [n, 3, h, w] → [n, 1 + k, dim]: the class token, then the tokens of the patches that are kept, all behind the last layer
    /// norm. `kept` [n, k] int64: for each image the patches it keeps, row by row from 0, in the order they come out; the others
    /// are never computed. Without it all are kept.
    torch::Tensor tokens(const torch::Tensor &images, const std::optional<torch::Tensor> &kept = {});

    /// [n, 3, h, w] → [n, patches, dim]: the patches' embeddings with their positions added; nothing is mixed yet.
    torch::Tensor embedPatches(const torch::Tensor &images);
    /// The same with `mask` [n, patches] bool: where it is true the embedding is `token` [dim] instead of the patch's, the
    /// position stays.
    torch::Tensor embedPatches(const torch::Tensor &images, const torch::Tensor &mask, const torch::Tensor &token);
    /// Class token and layers over embeddings [n, t, dim] → [n, 1 + t, dim].
    torch::Tensor encode(const torch::Tensor &embeddings);

    /// Patches of an image of h × w pixels. Throws c10::Error when patches do not cover it evenly.
    std::int64_t patchCount(std::int64_t height, std::int64_t width) const;
    const VitOptions &options() const { return m_options; }

    std::vector<std::string> classifier() const override { return {"heads.head.", "heads."}; }
    /// A positional embedding that was made for another image size, interpolated to this one's.
    torch::Tensor adapt(const std::string &name, const torch::Tensor &read) const override;

protected:
    torch::Tensor compute(const torch::Tensor &images) override { return tokens(images).select(1, 0); } ///< the class token

private:
    void initialise();
    torch::Tensor project(const torch::Tensor &images);
    torch::Tensor patchPositions(std::int64_t height, std::int64_t width) const;

    VitOptions m_options;
    torch::Tensor m_classToken, m_positions; ///< [1, 1, dim]; [1, 1 + patches, dim], the class token's first
    torch::nn::Conv2d m_projection = nullptr;
    DropPath m_depth = nullptr;
    std::vector<VitBlock> m_blocks;
    torch::nn::LayerNorm m_norm = nullptr;
};
TORCH_MODULE(Vit);

/// Positional embeddings of a square grid of patches, without class token [1, g·g, D], for a grid of rows × columns:
/// [1, rows·columns, D]. Bicubic; the same grid returns them unchanged. Throws c10::Error for a number that is no square.
torch::Tensor interpolatePositions(const torch::Tensor &positions, std::int64_t rows, std::int64_t columns);

} // namespace parallax::nn
