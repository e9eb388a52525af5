// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/vit.h"

#include <cmath>

namespace parallax::nn {

namespace {

constexpr double layerNormEps = 1e-6;

torch::nn::LayerNorm layerNorm(std::int64_t dim)
{
    return torch::nn::LayerNorm(torch::nn::LayerNormOptions({dim}).eps(layerNormEps));
}

/// A module that only groups others under a name.
std::shared_ptr<torch::nn::Module> container() { return std::make_shared<torch::nn::Module>(); }

} // namespace

VitBlockImpl::VitBlockImpl(std::int64_t heads, std::int64_t dim, std::int64_t mlpDim, DropPath depth, std::size_t branch)
    : m_heads(heads), m_depth(std::move(depth)), m_branch(branch)
{
    TORCH_CHECK(heads > 0 && dim % heads == 0, "A transformer of width ", dim, " has no ", heads, " heads of equal width");
    m_attentionNorm = register_module("ln_1", layerNorm(dim));
    const auto attention = register_module("self_attention", container());
    m_inWeight = attention->register_parameter("in_proj_weight", torch::empty({3 * dim, dim}));
    m_inBias = attention->register_parameter("in_proj_bias", torch::zeros({3 * dim}));
    m_out = attention->register_module("out_proj", torch::nn::Linear(dim, dim));
    m_mlpNorm = register_module("ln_2", layerNorm(dim));
    const auto mlp = register_module("mlp", container()); // 1 and 2 are activation and dropout, which hold nothing
    m_mlpIn = mlp->register_module("0", torch::nn::Linear(dim, mlpDim));
    m_mlpOut = mlp->register_module("3", torch::nn::Linear(mlpDim, dim));

    torch::nn::init::xavier_uniform_(m_inWeight);
    torch::nn::init::zeros_(m_out->bias);
    for (auto *linear : {&m_mlpIn, &m_mlpOut}) {
        torch::nn::init::xavier_uniform_((*linear)->weight);
        torch::nn::init::normal_((*linear)->bias, 0, 1e-6);
    }
}

torch::Tensor VitBlockImpl::attend(const torch::Tensor &x)
{
    const std::int64_t n = x.size(0), t = x.size(1), dim = x.size(2);
    // [3, n, heads, t, dim / heads]
    const torch::Tensor all =
        torch::linear(x, m_inWeight, m_inBias).view({n, t, 3, m_heads, dim / m_heads}).permute({2, 0, 3, 1, 4});
    const torch::Tensor mixed = at::scaled_dot_product_attention(all[0], all[1], all[2]);
    return m_out->forward(mixed.transpose(1, 2).reshape({n, t, dim}));
}

torch::Tensor VitBlockImpl::kept(const torch::Tensor &x, std::size_t branch) const
{
    return m_depth ? m_depth->forward(x, m_branch + branch) : x;
}

torch::Tensor VitBlockImpl::forward(const torch::Tensor &input)
{
    const torch::Tensor x = input + kept(attend(m_attentionNorm->forward(input)), 0);
    const torch::Tensor hidden = torch::gelu(m_mlpIn->forward(m_mlpNorm->forward(x)));
    return x + kept(m_mlpOut->forward(hidden), 1);
}

VitImpl::VitImpl(const VitOptions &options) : m_options(options)
{
    const std::int64_t dim = options.dim, side = options.patchSize;
    const std::int64_t patches = patchCount(options.imageSize, options.imageSize);
    features = dim;
    m_classToken = register_parameter("class_token", torch::zeros({1, 1, dim}));
    m_projection = register_module("conv_proj", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, dim, side).stride(side)));
    const auto encoder = register_module("encoder", container());
    m_positions = encoder->register_parameter("pos_embedding", torch::empty({1, 1 + patches, dim}));
    m_depth = register_module("drop_path", DropPath(dropPathRates(options.dropPath, options.layers, 2)));
    const auto layers = encoder->register_module("layers", container());
    for (std::int64_t i = 0; i < options.layers; ++i)
        m_blocks.push_back(
            layers->register_module("encoder_layer_" + std::to_string(i),
                                    VitBlock(options.heads, dim, options.mlpDim, m_depth, std::size_t(2 * i))));
    m_norm = encoder->register_module("ln", layerNorm(dim));
    initialise();
}

void VitImpl::initialise()
{
    torch::nn::init::normal_(m_projection->weight, 0, 1 / std::sqrt(double(3 * m_options.patchSize * m_options.patchSize)));
    torch::nn::init::zeros_(m_projection->bias);
    torch::nn::init::normal_(m_positions, 0, 0.02);
}

std::int64_t VitImpl::patchCount(std::int64_t height, std::int64_t width) const
{
    const std::int64_t side = m_options.patchSize;
    TORCH_CHECK(height >= side && width >= side && height % side == 0 && width % side == 0, "Patches of ", side,
                " px do not cover images of ", height, "×", width,
                " px: set augment.size to a multiple of backbone.patch_size");
    return (height / side) * (width / side);
}

torch::Tensor VitImpl::project(const torch::Tensor &images)
{
    patchCount(images.size(2), images.size(3));
    return m_projection->forward(images).flatten(2).transpose(1, 2);
}

torch::Tensor VitImpl::patchPositions(std::int64_t height, std::int64_t width) const
{
    const std::int64_t side = m_options.patchSize;
    return interpolatePositions(m_positions.narrow(1, 1, m_positions.size(1) - 1), height / side, width / side);
}

torch::Tensor VitImpl::embedPatches(const torch::Tensor &images)
{
    return inPrecision(images, [&] { return project(images) + patchPositions(images.size(2), images.size(3)); });
}

torch::Tensor VitImpl::embedPatches(const torch::Tensor &images, const torch::Tensor &mask, const torch::Tensor &token)
{
    const torch::Tensor patches = inPrecision(images, [&] { return project(images); });
    TORCH_CHECK(mask.dim() == 2 && mask.size(0) == patches.size(0) && mask.size(1) == patches.size(1),
                "A mask has the shape [images, patches], here [", patches.size(0), ", ", patches.size(1), "], not ",
                mask.sizes());
    return torch::where(mask.unsqueeze(2), token.view({1, 1, -1}).to(patches.dtype()), patches) +
        patchPositions(images.size(2), images.size(3));
}

torch::Tensor VitImpl::encode(const torch::Tensor &embeddings)
{
    const torch::Tensor first = m_classToken + m_positions.narrow(1, 0, 1);
    const torch::Tensor all = torch::cat({first.expand({embeddings.size(0), -1, -1}).to(embeddings.dtype()), embeddings}, 1);
    m_depth->draw(embeddings);
    return inPrecision(all, [&] {
        torch::Tensor x = all;
        for (auto &block : m_blocks) x = block->forward(x);
        return m_norm->forward(x);
    });
}

torch::Tensor VitImpl::tokens(const torch::Tensor &images, const std::optional<torch::Tensor> &kept)
{
    const torch::Tensor patches = embedPatches(images);
    if (!kept) return encode(patches);
    TORCH_CHECK(kept->dim() == 2 && kept->size(0) == images.size(0), "Kept patches have the shape [images, k], here [",
                images.size(0), ", k], not ", kept->sizes());
    return encode(patches.gather(1, kept->unsqueeze(2).expand({-1, -1, patches.size(2)})));
}

torch::Tensor VitImpl::adapt(const std::string &name, const torch::Tensor &read) const
{
    if (name != "encoder.pos_embedding" || read.sizes() == m_positions.sizes()) return read;
    if (read.dim() != 3 || read.size(0) != 1 || read.size(1) < 2 || read.size(2) != m_options.dim) return read;
    const std::int64_t side = m_options.imageSize / m_options.patchSize, old = read.size(1) - 1;
    const auto root = std::llround(std::sqrt(double(old)));
    const torch::Tensor wide = read.scalar_type() == torch::kFloat64 ? read : read.to(torch::kFloat32);
    if (root * root != old) return read; // refused later, by its shape
    return torch::cat({wide.narrow(1, 0, 1), interpolatePositions(wide.narrow(1, 1, old), side, side)}, 1);
}

torch::Tensor interpolatePositions(const torch::Tensor &positions, std::int64_t rows, std::int64_t columns)
{
    const std::int64_t count = positions.size(1), side = std::llround(std::sqrt(double(count)));
    TORCH_CHECK(side * side == count, "Positional embeddings of ", count, " patches are no square grid");
    if (rows == side && columns == side) return positions;
    const torch::Tensor grid = positions.transpose(1, 2).reshape({1, positions.size(2), side, side});
    const std::vector<std::int64_t> size{rows, columns};
    return at::upsample_bicubic2d(grid, size, /*align_corners=*/false).flatten(2).transpose(1, 2);
}

} // namespace parallax::nn
