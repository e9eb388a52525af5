// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/transforms.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace parallax::data::transforms {

namespace {

float clamp01(float x) { return std::min(std::max(x, 0.f), 1.f); }
float grayOf(float r, float g, float b) { return r * 0.2989f + g * 0.587f + b * 0.114f; }

/// One pixel's hue turned: to HSV, hue modulo 1, and back.
void turnHue(float &r, float &g, float &b, float turn)
{
    const float high = std::max({r, g, b}), range = high - std::min({r, g, b});
    if (range == 0) return; // gray has no hue
    const float rc = (high - r) / range, gc = (high - g) / range, bc = (high - b) / range;
    const float sixths = r == high ? bc - gc : g == high ? rc - bc + 2 : gc - rc + 4;
    float hue = std::fmod(sixths * (1.f / 6) + 1, 1.f) + turn;
    hue -= std::floor(hue);
    const float saturation = range / high, h6 = hue * 6, whole = std::floor(h6), f = h6 - whole;
    const float p = clamp01(high * (1 - saturation)), q = clamp01(high * (1 - saturation * f));
    const float t = clamp01(high * (1 - saturation * (1 - f)));
    switch (int(whole) % 6) {
    case 0: r = high, g = t, b = p; break;
    case 1: r = q, g = high, b = p; break;
    case 2: r = p, g = high, b = t; break;
    case 3: r = p, g = q, b = high; break;
    case 4: r = t, g = p, b = high; break;
    default: r = high, g = p, b = q; break;
    }
}

int mirrored(int i, int n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; }

} // namespace

void flipHorizontally(Planes view)
{
    for (float *row = view.rgb; row < view.rgb + 3 * view.pixels(); row += view.width) std::reverse(row, row + view.width);
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
    const std::size_t n = view.pixels();
    for (std::size_t i = 0; i < n; ++i) turnHue(view.rgb[i], view.rgb[i + n], view.rgb[i + 2 * n], turn);
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
    double sum = 0;
    for (int k = 0; k < taps; ++k)
        sum += kernel[std::size_t(k)] = std::exp(-0.5f * float((k - radius) * (k - radius)) / (sigma * sigma));
    for (float &weight : kernel) weight = float(weight / sum);
    padded.resize(std::size_t(w + 2 * radius));
    rows.resize(view.pixels());
    for (float *plane = view.rgb; plane < view.rgb + 3 * view.pixels(); plane += view.pixels()) {
        for (int y = 0; y < h; ++y) {
            for (int x = -radius; x < w + radius; ++x) padded[std::size_t(x + radius)] = plane[y * w + mirrored(x, w)];
            float *out = rows.data() + std::ptrdiff_t(y) * w;
            std::fill(out, out + w, 0.f);
            for (int k = 0; k < taps; ++k)
                for (int x = 0; x < w; ++x) out[x] += kernel[std::size_t(k)] * padded[std::size_t(x + k)];
        }
        std::fill(plane, plane + view.pixels(), 0.f);
        for (int y = 0; y < h; ++y)
            for (int k = 0; k < taps; ++k) {
                const float *in = rows.data() + std::ptrdiff_t(mirrored(y + k - radius, h)) * w;
                for (int x = 0; x < w; ++x) plane[y * w + x] += kernel[std::size_t(k)] * in[x];
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
