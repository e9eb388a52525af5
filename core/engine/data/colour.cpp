// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/colour.h"

#include "core/base/simd.h"

#include <algorithm>

namespace parallax::data::transforms {

struct ColourSteps::Block {
    float *red, *green, *blue;
    std::size_t count;
};

namespace {

constexpr std::size_t blockPixels = 1024; ///< 12 kB

PARALLAX_INLINE float clamp01(float x) { return std::min(std::max(x, 0.f), 1.f); }
PARALLAX_INLINE float grayOf(float r, float g, float b) { return r * 0.2989f + g * 0.587f + b * 0.114f; }

/// x less 6 when it has reached 6. Both results exist before the choice, so that the compiler may choose by masks.
PARALLAX_INLINE float wrapped(float x)
{
    const float less = x - 6;
    return x >= 6 ? less : x;
}

/// A channel of the pixel whose hue is `sixths` of the circle (0 … 6), by the distance of that hue from the channel's own:
/// HSV to RGB without branches. `offset`: 5 red, 3 green, 1 blue. `cut`: the picture has values outside 0 … 1, as interpolation
/// leaves them; what is below the highest channel is then cut. Of values inside both make the same.
template<bool cut>
PARALLAX_INLINE float channelOf(float sixths, float offset, float high, float range)
{
    const float k = wrapped(sixths + offset), share = clamp01(std::min(k, 4 - k)), value = high - range * share;
    if constexpr (!cut) return value;
    const float inside = clamp01(value);
    return share > 0 ? inside : high;
}

template<bool cut>
PARALLAX_INLINE void turnHue(float *__restrict red, float *__restrict green, float *__restrict blue, std::size_t n,
                             float turn)
{
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

PARALLAX_VECTORISED bool anyOutside(const float *values, std::size_t n)
{
    int outside = 0; // a sum of bits, which becomes vector instructions
    for (std::size_t i = 0; i < n; ++i) outside |= int(values[i] < 0) | int(values[i] > 1);
    return outside != 0;
}

PARALLAX_VECTORISED void turn(float *red, float *green, float *blue, std::size_t n, float by)
{
    turnHue<false>(red, green, blue, n, by);
}

PARALLAX_VECTORISED void turnAndCut(float *red, float *green, float *blue, std::size_t n, float by)
{
    turnHue<true>(red, green, blue, n, by);
}

/// value · factor + rest, cut to 0 … 1.
PARALLAX_VECTORISED void stretch(float *values, std::size_t n, float factor, float rest)
{
    for (std::size_t i = 0; i < n; ++i) values[i] = clamp01(values[i] * factor + rest);
}

PARALLAX_VECTORISED void saturate(float *__restrict red, float *__restrict green, float *__restrict blue, std::size_t n,
                                  float factor)
{
    for (std::size_t i = 0; i < n; ++i) {
        const float rest = grayOf(red[i], green[i], blue[i]) * (1 - factor);
        red[i] = clamp01(red[i] * factor + rest);
        green[i] = clamp01(green[i] * factor + rest);
        blue[i] = clamp01(blue[i] * factor + rest);
    }
}

PARALLAX_VECTORISED void makeGray(float *__restrict red, float *__restrict green, float *__restrict blue, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) red[i] = green[i] = blue[i] = grayOf(red[i], green[i], blue[i]);
}

/// In sixteen sums side by side, on every processor.
PARALLAX_VECTORISED double sumOfGrays(const float *red, const float *green, const float *blue, std::size_t n)
{
    constexpr std::size_t lanes = 16;
    float sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t k = 0; k < lanes; ++k) sums[k] += grayOf(red[i + k], green[i + k], blue[i + k]);
    double sum = 0;
    for (const float part : sums) sum += part;
    for (; i < n; ++i) sum += grayOf(red[i], green[i], blue[i]);
    return sum;
}

PARALLAX_VECTORISED void invertBright(float *values, std::size_t n, float threshold)
{
    for (std::size_t i = 0; i < n; ++i) {
        const float inverse = 1 - values[i];
        values[i] = values[i] >= threshold ? inverse : values[i];
    }
}

PARALLAX_VECTORISED void standardise(float *values, std::size_t n, float mean, float scale)
{
    for (std::size_t i = 0; i < n; ++i) values[i] = (values[i] - mean) * scale;
}

} // namespace

void ColourSteps::normalise(const double mean[3], const double std[3])
{
    add(ColourOperation::Normalise, 0);
    for (std::size_t c = 0; c < 3; ++c) {
        m_steps[m_count - 1].mean[c] = float(mean[c]);
        m_steps[m_count - 1].scale[c] = float(1 / std[c]);
    }
}

void ColourSteps::applyTo(const Block &block, const Step &step, float mean)
{
    const auto [red, green, blue, count] = block;
    const std::array planes{red, green, blue};
    switch (step.operation) {
    case ColourOperation::Brightness:
        for (float *plane : planes) stretch(plane, count, step.value, 0);
        break;
    case ColourOperation::Contrast:
        for (float *plane : planes) stretch(plane, count, step.value, mean * (1 - step.value));
        break;
    case ColourOperation::Saturation: saturate(red, green, blue, count, step.value); break;
    case ColourOperation::Hue:
        if (anyOutside(red, count) || anyOutside(green, count) || anyOutside(blue, count))
            turnAndCut(red, green, blue, count, step.value);
        else
            turn(red, green, blue, count, step.value);
        break;
    case ColourOperation::Gray: makeGray(red, green, blue, count); break;
    case ColourOperation::Solarise:
        for (float *plane : planes) invertBright(plane, count, step.value);
        break;
    case ColourOperation::Normalise:
        for (std::size_t c = 0; c < 3; ++c) standardise(planes[c], count, step.mean[c], step.scale[c]);
        break;
    }
}

void ColourSteps::apply(Planes view) const
{
    const std::size_t n = view.pixels();
    float mean = 0; // of the gray picture that the contrast at `begin` sees
    for (std::size_t begin = 0, end = 0; begin < m_count; begin = end, end = begin + 1) {
        while (end < m_count && m_steps[end].operation != ColourOperation::Contrast) ++end;
        double sum = 0;
        for (std::size_t at = 0; at < n; at += blockPixels) {
            const Block block{view.rgb + at, view.rgb + n + at, view.rgb + 2 * n + at, std::min(blockPixels, n - at)};
            for (std::size_t i = begin; i < end; ++i) applyTo(block, m_steps[i], mean);
            if (end < m_count) sum += sumOfGrays(block.red, block.green, block.blue, block.count);
        }
        mean = float(sum / double(n));
    }
}

} // namespace parallax::data::transforms
