// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/resample.h"

#include <algorithm>
#include <cmath>

namespace parallax::data {

void Taps::make(int input, int output, int from, int outputs)
{
    const double scale = double(input) / output, support = std::max(scale, 1.0);
    stride = int(std::ceil(support)) * 2 + 1;
    first.resize(std::size_t(outputs));
    count.resize(std::size_t(outputs));
    weight.assign(std::size_t(outputs) * std::size_t(stride), 0);
    for (int i = 0; i < outputs; ++i) {
        const double center = scale * (from + i + 0.5);
        const int low = std::max(int(std::floor(center - support + 0.5)), 0);
        const int n = std::clamp(std::min(int(std::floor(center + support + 0.5)), input) - low, 1, stride);
        float *w = weight.data() + std::size_t(i) * std::size_t(stride);
        double sum = 0;
        for (int j = 0; j < n; ++j) sum += w[j] = float(std::max(0.0, 1 - std::abs((low + j - center + 0.5) / support)));
        for (int j = 0; j < n; ++j) w[j] = float(w[j] / sum);
        first[std::size_t(i)] = low;
        count[std::size_t(i)] = n;
    }
}

namespace {

/// Scratch memory of a thread: views of one size follow each other by the thousand.
struct Scratch {
    Taps rows, columns;
    std::vector<float> line;
};

/// One output row before the horizontal pass: the weighted sum of input rows, interleaved RGB.
void mixRows(const cv::Mat &rgb, const cv::Rect &crop, const Taps &taps, int i, std::vector<float> &line)
{
    const std::size_t n = std::size_t(crop.width) * 3;
    const float *w = taps.weight.data() + std::size_t(i) * std::size_t(taps.stride);
    std::fill(line.begin(), line.begin() + std::ptrdiff_t(n), 0.f);
    for (int j = 0; j < taps.count[std::size_t(i)]; ++j) {
        if (w[j] == 0) continue;
        const std::uint8_t *in = rgb.ptr(crop.y + taps.first[std::size_t(i)] + j) + 3 * std::ptrdiff_t(crop.x);
        float *sum = line.data();
        for (std::size_t k = 0; k < n; ++k) sum[k] += w[j] * float(in[k]);
    }
}

} // namespace

void resample(const cv::Mat &rgb, const cv::Rect &crop, const cv::Size &full, const cv::Rect &window, float *out)
{
    thread_local Scratch scratch;
    scratch.rows.make(crop.height, full.height, window.y, window.height);
    scratch.columns.make(crop.width, full.width, window.x, window.width);
    if (scratch.line.size() < std::size_t(crop.width) * 3) scratch.line.resize(std::size_t(crop.width) * 3);
    const std::size_t plane = std::size_t(window.width) * std::size_t(window.height);
    const Taps &columns = scratch.columns;
    for (int y = 0; y < window.height; ++y) {
        mixRows(rgb, crop, scratch.rows, y, scratch.line);
        float *row = out + std::size_t(y) * std::size_t(window.width);
        for (int x = 0; x < window.width; ++x) {
            const float *w = columns.weight.data() + std::size_t(x) * std::size_t(columns.stride);
            const float *in = scratch.line.data() + 3 * std::ptrdiff_t(columns.first[std::size_t(x)]);
            float r = 0, g = 0, b = 0;
            for (int j = 0; j < columns.count[std::size_t(x)]; ++j, in += 3) {
                r += w[j] * in[0];
                g += w[j] * in[1];
                b += w[j] * in[2];
            }
            row[x] = r / 255;
            row[x + plane] = g / 255;
            row[x + 2 * plane] = b / 255;
        }
    }
}

} // namespace parallax::data
