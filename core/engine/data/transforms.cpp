// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/transforms.h"

#include "core/engine/data/colour.h"
#include "core/engine/data/mix.h"
#include "core/engine/data/rotation.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace parallax::data::transforms {

namespace {

int mirrored(int i, int n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; }

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
    for (float *p = view.rgb, *end = p + 3 * view.pixels(); p < end; ++p) *p = std::min(std::max(*p, 0.f), 1.f);
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

void blur(Planes view, int radius, float sigma)
{
    thread_local std::vector<float> kernel, padded, rows;
    thread_local std::vector<const float *> before, after;
    const int w = view.width, h = view.height;
    const std::size_t reach = std::size_t(radius);
    kernel.resize(reach + 1); // its middle and what follows: it is symmetric
    before.resize(reach);
    after.resize(reach);
    padded.resize(std::size_t(w) + 2 * reach);
    rows.resize(view.pixels());
    double sum = 0;
    for (int k = 0; k <= radius; ++k) {
        kernel[std::size_t(k)] = std::exp(-0.5f * float(k * k) / (sigma * sigma));
        sum += kernel[std::size_t(k)] * (k > 0 ? 2 : 1);
    }
    for (float &weight : kernel) weight = float(weight / sum);
    const auto row = [&](int y) { return rows.data() + std::ptrdiff_t(mirrored(y, h)) * w; };
    for (float *plane = view.rgb; plane < view.rgb + 3 * view.pixels(); plane += view.pixels()) {
        float *line = padded.data() + radius;
        for (int k = 1; k <= radius; ++k) before[std::size_t(k - 1)] = line - k, after[std::size_t(k - 1)] = line + k;
        for (int y = 0; y < h; ++y) {
            const float *in = plane + std::ptrdiff_t(y) * w;
            std::copy(in, in + w, line);
            for (int k = 1; k <= radius; ++k) line[-k] = in[k], line[w - 1 + k] = in[w - 1 - k];
            mixPairs(line, before.data(), after.data(), kernel.data(), radius, row(y), std::size_t(w));
        }
        for (int y = 0; y < h; ++y) {
            for (int k = 1; k <= radius; ++k)
                before[std::size_t(k - 1)] = row(y - k), after[std::size_t(k - 1)] = row(y + k);
            mixPairs(row(y), before.data(), after.data(), kernel.data(), radius, plane + std::ptrdiff_t(y) * w,
                     std::size_t(w));
        }
    }
}

namespace {

void applyOne(Planes view, ColourOperation operation, float value = 0)
{
    ColourSteps steps;
    steps.add(operation, value);
    steps.apply(view);
}

} // namespace

void adjustBrightness(Planes view, float factor) { applyOne(view, ColourOperation::Brightness, factor); }
void adjustContrast(Planes view, float factor) { applyOne(view, ColourOperation::Contrast, factor); }
void adjustSaturation(Planes view, float factor) { applyOne(view, ColourOperation::Saturation, factor); }
void adjustHue(Planes view, float turn) { applyOne(view, ColourOperation::Hue, turn); }
void toGray(Planes view) { applyOne(view, ColourOperation::Gray); }
void solarise(Planes view, float threshold) { applyOne(view, ColourOperation::Solarise, threshold); }

void normalise(Planes view, const double mean[3], const double std[3])
{
    ColourSteps steps;
    steps.normalise(mean, std);
    steps.apply(view);
}

} // namespace parallax::data::transforms
