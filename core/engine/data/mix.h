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

/// From a row of pixels of three values each to as many pixels as the planes take: value x of each plane is
/// scale · Σ weight[x · stride + j] · in[first[x] + j] for j < count. `in` has one value more than its pixels. `mirrored`: the planes
/// are filled from their end.
struct PixelTaps {
    const int *first;
    const float *weight;
    int count, stride;
};
struct PlaneRow {
    float *red, *green, *blue;
    int width;
};
void mixPixels(const float *in, const PixelTaps &taps, float scale, bool mirrored, const PlaneRow &out);

} // namespace parallax::data
