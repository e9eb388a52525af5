// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Weighted sums over whole rows: what resampling and blurring consist of.
namespace parallax::data {

/// out[i] = Σ weight[j] · rows[j][i] for i < length, added up in the order of j; count at least 1.
void mixBytes(const std::uint8_t *const *rows, const float *weight, int count, float *out, std::size_t length);

/// out[i] = weight[0] · middle[i] + Σ weight[k] · (before[k - 1][i] + after[k - 1][i]) for k = 1 … pairs, in that order. `out` may
/// not overlap the others.
void mixPairs(const float *middle, const float *const *before, const float *const *after, const float *weight, int pairs,
              float *out, std::size_t length);

/// Pixels of three values each, in a row: pixel x of the result is Σ weight[x · stride + j] · in[first[x] + j] for j < count[x].
/// Four values a pixel are written, the fourth without meaning; `in` has one value more than its pixels.
struct PixelTaps {
    const int *first, *count;
    const float *weight;
    int stride;
};
void mixPixels(const float *in, const PixelTaps &taps, int pixels, float *out);

/// Three planes from pixels of four values, times `scale`; `mirrored`: the last pixel first.
void splitPixels(const float *in, int pixels, float scale, bool mirrored, float *red, float *green, float *blue);

} // namespace parallax::data
