// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/maedecoder.h"

namespace parallax::nn {

torch::Tensor sineCosinePositions(std::int64_t side, std::int64_t dim)
{
    TORCH_CHECK(dim % 4 == 0, "Positions of sines and cosines need a width divisible by 4, not ", dim);
    const auto f64 = torch::kFloat64;
    const torch::Tensor rate = torch::pow(10000.0, -torch::arange(dim / 4, f64) / (double(dim) / 4)); // [dim / 4]
    const auto axis = [&](const torch::Tensor &place) {
        const torch::Tensor angle = place.reshape({-1, 1}) * rate; // [side², dim / 4]
        return torch::cat({angle.sin(), angle.cos()}, 1);
    };
    const auto grid = torch::meshgrid({torch::arange(side, f64), torch::arange(side, f64)}, "ij");
    const torch::Tensor places = torch::cat({axis(grid[1]), axis(grid[0])}, 1);
    return torch::cat({torch::zeros({1, dim}, f64), places}).unsqueeze(0).to(torch::kFloat32);
}

torch::Tensor patchesOf(const torch::Tensor &images, std::int64_t size)
{
    TORCH_CHECK(images.dim() == 4 && images.size(2) % size == 0 && images.size(3) % size == 0, "Patches of ", size,
                " px do not cover images of ", images.sizes());
    const std::int64_t n = images.size(0), c = images.size(1), rows = images.size(2) / size, columns = images.size(3) / size;
    return images.reshape({n, c, rows, size, columns, size})
        .permute({0, 2, 4, 3, 5, 1})
        .reshape({n, rows * columns, size * size * c});
}

MaeDecoderImpl::MaeDecoderImpl(const MaeDecoderOptions &options)
{
    TORCH_CHECK(options.dim % options.heads == 0, "The decoder's ", options.heads,
                " heads (method.decoder_heads) do not divide its width ", options.dim);
    m_embed = register_module("decoder_embed", torch::nn::Linear(options.in, options.dim));
    m_maskToken = register_parameter("mask_token", torch::randn({1, 1, options.dim}) * 0.02);
    m_positions =
        register_buffer("decoder_pos_embed", sineCosinePositions(options.imageSize / options.patchSize, options.dim));
    for (std::int64_t i = 0; i < options.layers; ++i)
        m_blocks.push_back(
            register_module("decoder_blocks_" + std::to_string(i), VitBlock(options.heads, options.dim, 4 * options.dim)));
    m_norm = register_module("decoder_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({options.dim}).eps(1e-6)));
    m_predict = register_module("decoder_pred", torch::nn::Linear(options.dim, 3 * options.patchSize * options.patchSize));
}

torch::Tensor MaeDecoderImpl::compute(const torch::Tensor &encoded, const torch::Tensor &kept, const torch::Tensor &masked)
{
    const torch::Tensor x = m_embed->forward(encoded); // [n, 1 + k, dim]
    const std::int64_t n = x.size(0), dim = x.size(2), patches = kept.size(1) + masked.size(1);
    TORCH_CHECK(m_positions.size(1) == 1 + patches, "The decoder was made for ", m_positions.size(1) - 1, " patches, not ",
                patches, ": backbone.image_size must be the size of the views");
    const torch::Tensor places = kept.unsqueeze(2).expand({-1, -1, dim});
    const torch::Tensor all =
        m_maskToken.to(x.scalar_type()).expand({n, patches, dim}).scatter(1, places, x.narrow(1, 1, kept.size(1)));
    torch::Tensor y = torch::cat({x.narrow(1, 0, 1), all}, 1) + m_positions;
    for (auto &block : m_blocks) y = block->forward(y);
    const torch::Tensor hidden = m_norm->forward(y).narrow(1, 1, patches);
    return m_predict->forward(hidden.gather(1, masked.unsqueeze(2).expand({-1, -1, dim})));
}

} // namespace parallax::nn
