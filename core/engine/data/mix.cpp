// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/mix.h"

#include "core/engine/data/simd.h"

#include <algorithm>
#include <cstring>

namespace parallax::data {

namespace {

constexpr int group = 4; ///< rows whose sum stays in registers

template<int count>
PARALLAX_INLINE void addBytes(const std::uint8_t *const *rows, const float *weight, bool onTop, float *__restrict out,
                              std::size_t length)
{
    const std::uint8_t *row[count];
    float w[count];
    for (int j = 0; j < count; ++j) row[j] = rows[j], w[j] = weight[j];
    const auto sum = [&](float s, std::size_t i) {
        for (int j = 0; j < count; ++j) s += w[j] * float(row[j][i]);
        return s;
    };
    if (onTop)
        for (std::size_t i = 0; i < length; ++i) out[i] = sum(out[i], i);
    else
        for (std::size_t i = 0; i < length; ++i) out[i] = sum(0, i);
}

template<int pairs>
PARALLAX_INLINE void addPairs(const float *const *before, const float *const *after, const float *weight,
                              float *__restrict out, std::size_t length)
{
    const float *a[pairs], *b[pairs];
    float w[pairs];
    for (int k = 0; k < pairs; ++k) a[k] = before[k], b[k] = after[k], w[k] = weight[k];
    for (std::size_t i = 0; i < length; ++i) {
        float s = out[i];
        for (int k = 0; k < pairs; ++k) s += w[k] * (a[k][i] + b[k][i]);
        out[i] = s;
    }
}

/// A pixel's red, green and blue, and a value that is carried along.
using Four = float __attribute__((vector_size(16)));

} // namespace

PARALLAX_VECTORISED void mixBytes(const std::uint8_t *const *rows, const float *weight, int count, float *out,
                                  std::size_t length)
{
    for (int j = 0; j < count; j += group) {
        switch (std::min(count - j, group)) {
        case 1: addBytes<1>(rows + j, weight + j, j > 0, out, length); break;
        case 2: addBytes<2>(rows + j, weight + j, j > 0, out, length); break;
        case 3: addBytes<3>(rows + j, weight + j, j > 0, out, length); break;
        default: addBytes<group>(rows + j, weight + j, j > 0, out, length); break;
        }
    }
}

PARALLAX_VECTORISED void mixPairs(const float *middle, const float *const *before, const float *const *after,
                                  const float *weight, int pairs, float *__restrict out, std::size_t length)
{
    for (std::size_t i = 0; i < length; ++i) out[i] = weight[0] * middle[i];
    for (int k = 0; k < pairs; k += group) {
        switch (std::min(pairs - k, group)) {
        case 1: addPairs<1>(before + k, after + k, weight + k + 1, out, length); break;
        case 2: addPairs<2>(before + k, after + k, weight + k + 1, out, length); break;
        case 3: addPairs<3>(before + k, after + k, weight + k + 1, out, length); break;
        default: addPairs<group>(before + k, after + k, weight + k + 1, out, length); break;
        }
    }
}

PARALLAX_VECTORISED void mixPixels(const float *in, const PixelTaps &taps, int pixels, float *out)
{
    for (int x = 0; x < pixels; ++x, out += 4) {
        const float *w = taps.weight + std::ptrdiff_t(x) * taps.stride, *from = in + 3 * std::ptrdiff_t(taps.first[x]);
        Four sum{};
        for (int j = 0; j < taps.count[x]; ++j, from += 3) {
            Four pixel;
            std::memcpy(&pixel, from, sizeof pixel);
            sum += w[j] * pixel;
        }
        std::memcpy(out, &sum, sizeof sum);
    }
}

PARALLAX_VECTORISED void splitPixels(const float *__restrict in, int pixels, float scale, bool mirrored, float *__restrict red,
                                     float *__restrict green, float *__restrict blue)
{
    if (mirrored)
        for (int x = 0; x < pixels; ++x) {
            const float *from = in + 4 * (pixels - 1 - x);
            red[x] = from[0] * scale, green[x] = from[1] * scale, blue[x] = from[2] * scale;
        }
    else
        for (int x = 0; x < pixels; ++x) {
            red[x] = in[4 * x] * scale, green[x] = in[4 * x + 1] * scale, blue[x] = in[4 * x + 2] * scale;
        }
}

} // namespace parallax::data
