// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/mix.h"

#include "core/base/simd.h"

#include <algorithm>
#include <cstring>

namespace parallax::data {

namespace {

constexpr int group = 4; ///< rows whose sum stays in registers

template<int count>
PARALLAX_INLINE void addBytes(const std::uint8_t *const *rows, const float *weight, bool adding, float *__restrict out,
                              std::size_t length)
{
    const std::uint8_t *row[count];
    float w[count];
    for (int j = 0; j < count; ++j) row[j] = rows[j], w[j] = weight[j];
    const auto sum = [&](float s, std::size_t i) {
        for (int j = 0; j < count; ++j) s += w[j] * float(row[j][i]);
        return s;
    };
    if (adding)
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

/// A pixel's red, green and blue, and a value that is carried along; or a channel of four pixels.
using Four = float __attribute__((vector_size(16)));

/// `known`: taps.count, where the compiler is to know it; 0: it is not known.
template<int known>
PARALLAX_INLINE Four pixelAt(const float *in, const PixelTaps &taps, int x)
{
    const float *w = taps.weight + std::ptrdiff_t(x) * taps.stride, *from = in + 3 * std::ptrdiff_t(taps.first[x]);
    Four sum{};
    for (int j = 0; j < (known > 0 ? known : taps.count); ++j) {
        Four pixel;
        std::memcpy(&pixel, from + 3 * j, sizeof pixel);
        sum += w[j] * pixel;
    }
    return sum;
}

template<int known>
PARALLAX_INLINE void mixPixelsOf(const float *in, const PixelTaps &taps, float scale, bool mirrored, const PlaneRow &out)
{
    const int step = mirrored ? -1 : 1, last = out.width - 1;
    int x = 0;
    for (; x + 4 <= out.width; x += 4) {
        const int from = mirrored ? last - x : x;
        const Four a = pixelAt<known>(in, taps, from), b = pixelAt<known>(in, taps, from + step),
                   c = pixelAt<known>(in, taps, from + 2 * step), d = pixelAt<known>(in, taps, from + 3 * step);
        const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        const Four abBlue = __builtin_shufflevector(a, b, 2, 6, 3, 7), cdBlue = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        const Four red = scale * __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        const Four green = scale * __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        const Four blue = scale * __builtin_shufflevector(abBlue, cdBlue, 0, 1, 4, 5);
        std::memcpy(out.red + x, &red, sizeof red);
        std::memcpy(out.green + x, &green, sizeof green);
        std::memcpy(out.blue + x, &blue, sizeof blue);
    }
    for (; x < out.width; ++x) {
        const Four pixel = scale * pixelAt<known>(in, taps, mirrored ? last - x : x);
        out.red[x] = pixel[0], out.green[x] = pixel[1], out.blue[x] = pixel[2];
    }
}

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

PARALLAX_VECTORISED void mixPixels(const float *in, const PixelTaps &taps, float scale, bool mirrored, const PlaneRow &out)
{
    switch (taps.count) {
    case 1: mixPixelsOf<1>(in, taps, scale, mirrored, out); break;
    case 2: mixPixelsOf<2>(in, taps, scale, mirrored, out); break;
    case 3: mixPixelsOf<3>(in, taps, scale, mirrored, out); break;
    case 4: mixPixelsOf<4>(in, taps, scale, mirrored, out); break;
    case 5: mixPixelsOf<5>(in, taps, scale, mirrored, out); break;
    case 6: mixPixelsOf<6>(in, taps, scale, mirrored, out); break;
    default: mixPixelsOf<0>(in, taps, scale, mirrored, out); break;
    }
}

} // namespace parallax::data
