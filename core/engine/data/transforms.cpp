// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/transforms.h"

#include "core/engine/data/rotation.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace parallax::data::transforms {

namespace {

float clamp01(float x) { return std::min(std::max(x, 0.f), 1.f); }
float grayOf(float r, float g, float b) { return r * 0.2989f + g * 0.587f + b * 0.114f; }

/// x less 6 when it has reached 6. Both results exist before the choice, so that the compiler may choose by masks.
float wrapped(float x)
{
    const float less = x - 6;
    return x >= 6 ? less : x;
}

/// A channel of the pixel whose hue is `sixths` of the circle (0 … 6), by the distance of that hue from the channel's own:
/// HSV to RGB without branches. `offset`: 5 red, 3 green, 1 blue. `cut`: the picture has values outside 0 … 1, as interpolation
/// leaves them; what is below the highest channel is then cut.
template<bool cut>
float channelOf(float sixths, float offset, float high, float range)
{
    const float k = wrapped(sixths + offset), share = clamp01(std::min(k, 4 - k)), value = high - range * share;
    if constexpr (!cut) return value;
    const float inside = clamp01(value);
    return share > 0 ? inside : high;
}

int mirrored(int i, int n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; }

template<bool cut>
void turnHue(Planes view, float turn)
{
    const std::size_t n = view.pixels();
    float *red = view.rgb, *green = red + n, *blue = green + n;
    const float turned = turn * 6 + (turn < 0 ? 6.f : 0.f);
    for (std::size_t i = 0; i < n; ++i) {
        const float r = red[i], g = green[i], b = blue[i];
        const float high = std::max(std::max(r, g), b), range = high - std::min(std::min(r, g), b);
        const float divisor = range > 0 ? range : 1; // gray has no hue, and its range of 0 gives it back unchanged
        const float gb = g - b, br = b - r, rg = r - g;
        const float difference = r == high ? gb : g == high ? br : rg;
        const float sector = r == high ? 6.f : g == high ? 2.f : 4.f; // 6: red lies at 0, and its difference may be negative
        const float hue = wrapped(wrapped(difference / divisor + sector) + turned);
        red[i] = channelOf<cut>(hue, 5, high, range);
        green[i] = channelOf<cut>(hue, 3, high, range);
        blue[i] = channelOf<cut>(hue, 1, high, range);
    }
}

} // namespace

void flipHorizontally(Planes view)
{
    for (float *row = view.rgb; row < view.rgb + 3 * view.pixels(); row += view.width) std::reverse(row, row + view.width);
}

void flipVertically(Planes view)
{
    for (float *plane = view.rgb; plane < view.rgb + 3 * view.pixels(); plane += view.pixels())
        for (int y = 0; y < view.height / 2; ++y)
            std::swap_ranges(plane + y * view.width, plane + (y + 1) * view.width,
                             plane + (view.height - 1 - y) * view.width);
}

void clip(Planes view)
{
    for (float *p = view.rgb, *end = p + 3 * view.pixels(); p < end; ++p) *p = clamp01(*p);
}

void solarise(Planes view, float threshold)
{
    for (float *p = view.rgb, *end = p + 3 * view.pixels(); p < end; ++p) *p = *p >= threshold ? 1 - *p : *p;
}

void rotate(Planes view, double degrees)
{
    const std::vector<int> source = rotatedFrom(view.width, view.height, degrees);
    std::vector<float> old(view.pixels());
    for (float *plane = view.rgb; plane < view.rgb + 3 * view.pixels(); plane += view.pixels()) {
        std::copy_n(plane, view.pixels(), old.begin());
        for (std::size_t i = 0; i < old.size(); ++i) plane[i] = source[i] < 0 ? 0 : old[std::size_t(source[i])];
    }
}

void adjustBrightness(Planes view, float factor)
{
    for (float *p = view.rgb, *end = p + 3 * view.pixels(); p < end; ++p) *p = clamp01(*p * factor);
}

void adjustContrast(Planes view, float factor)
{
    const std::size_t n = view.pixels();
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += grayOf(view.rgb[i], view.rgb[i + n], view.rgb[i + 2 * n]);
    const float rest = float(sum / double(n)) * (1 - factor);
    for (float *p = view.rgb, *end = p + 3 * n; p < end; ++p) *p = clamp01(*p * factor + rest);
}

void adjustSaturation(Planes view, float factor)
{
    const std::size_t n = view.pixels();
    float *r = view.rgb, *g = r + n, *b = g + n;
    for (std::size_t i = 0; i < n; ++i) {
        const float rest = grayOf(r[i], g[i], b[i]) * (1 - factor);
        r[i] = clamp01(r[i] * factor + rest);
        g[i] = clamp01(g[i] * factor + rest);
        b[i] = clamp01(b[i] * factor + rest);
    }
}

void adjustHue(Planes view, float turn)
{
    int outside = 0; // a sum of bits, which becomes vector instructions
    for (const float *p = view.rgb, *end = p + 3 * view.pixels(); p < end; ++p) outside |= int(*p < 0) | int(*p > 1);
    if (outside != 0)
        turnHue<true>(view, turn);
    else
        turnHue<false>(view, turn);
}

void toGray(Planes view)
{
    const std::size_t n = view.pixels();
    float *r = view.rgb, *g = r + n, *b = g + n;
    for (std::size_t i = 0; i < n; ++i) r[i] = g[i] = b[i] = grayOf(r[i], g[i], b[i]);
}

void blur(Planes view, int radius, float sigma)
{
    thread_local std::vector<float> kernel, padded, rows;
    const int taps = 2 * radius + 1, w = view.width, h = view.height;
    kernel.resize(std::size_t(taps));
    padded.resize(std::size_t(w) + kernel.size());
    rows.resize(view.pixels());
    float *weight = kernel.data(), *line = padded.data();
    double sum = 0;
    for (int k = 0; k < taps; ++k) sum += weight[k] = std::exp(-0.5f * float((k - radius) * (k - radius)) / (sigma * sigma));
    for (int k = 0; k < taps; ++k) weight[k] = float(weight[k] / sum);
    for (float *plane = view.rgb; plane < view.rgb + 3 * view.pixels(); plane += view.pixels()) {
        for (int y = 0; y < h; ++y) {
            for (int x = -radius; x < w + radius; ++x) line[x + radius] = plane[y * w + mirrored(x, w)];
            float *out = rows.data() + std::ptrdiff_t(y) * w;
            std::fill(out, out + w, 0.f);
            for (int k = 0; k < taps; ++k)
                for (int x = 0; x < w; ++x) out[x] += weight[k] * line[x + k];
        }
        std::fill(plane, plane + view.pixels(), 0.f);
        for (int y = 0; y < h; ++y)
            for (int k = 0; k < taps; ++k) {
                const float *in = rows.data() + std::ptrdiff_t(mirrored(y + k - radius, h)) * w;
                for (int x = 0; x < w; ++x) plane[y * w + x] += weight[k] * in[x];
            }
    }
}

void normalise(Planes view, const double mean[3], const double std[3])
{
    const std::size_t n = view.pixels();
    for (int c = 0; c < 3; ++c) {
        const float m = float(mean[c]), s = float(std[c]);
        for (float *p = view.rgb + std::size_t(c) * n, *end = p + n; p < end; ++p) *p = (*p - m) / s;
    }
}

} // namespace parallax::data::transforms
