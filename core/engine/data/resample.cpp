// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/resample.h"

#include "core/engine/data/mix.h"

#include <algorithm>
#include <cmath>

namespace parallax::data {

namespace {

/// The filter's weight at a distance; its reach to each side is 1 (bilinear) or 2.
template<class Real>
Real filterAt(Filter filter, Real x)
{
    x = std::abs(x);
    if (filter == Filter::Bilinear) return x < 1 ? 1 - x : 0;
    constexpr Real a = -0.5;
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// How the outputs of one axis read its inputs.
template<class Real>
struct Axis {
    Axis(int input, int output, Filter filter)
        : filter(filter), input(input), scale(Real(input) / Real(output)),
          inverse(Real(scale >= 1 ? 1.0 / double(scale) : 1.0)),
          support(Real(filter == Filter::Bilinear ? 1 : 2) * std::max(scale, Real(1))),
          stride(int(std::ceil(support)) * 2 + 1)
    {
    }
    Filter filter;
    int input;
    Real scale, inverse, support;
    int stride; ///< weights that an output has at most

    /// The normalised weights of output `i`, and the first input they are for; returns their number.
    int weights(int i, Real *w, int &first) const
    {
        const Real center = Real(double(scale) * (i + 0.5));
        first = std::max(int(std::floor(double(center - support) + 0.5)), 0);
        const int n = std::clamp(std::min(int(std::floor(double(center + support) + 0.5)), input) - first, 1, stride);
        Real sum = 0;
        for (int j = 0; j < n; ++j)
            sum += w[j] = filterAt(filter, Real((double(Real(j + first) - center) + 0.5) * double(inverse)));
        for (int j = 0; j < n; ++j) w[j] /= sum;
        return n;
    }
};

} // namespace

void Taps::make(int input, int output, int from, int outputs, Filter filter)
{
    const Axis<float> axis(input, output, filter);
    stride = axis.stride;
    first.resize(std::size_t(outputs));
    weight.assign(std::size_t(outputs) * std::size_t(stride), 0);
    count = 1;
    for (int i = 0; i < outputs; ++i) {
        const float *w = weight.data() + std::ptrdiff_t(i) * stride;
        int own = axis.weights(from + i, weight.data() + std::ptrdiff_t(i) * stride, first[std::size_t(i)]);
        while (own > 1 && w[own - 1] == 0) --own; // a filter that ends on an input counts it with 0
        count = std::max(count, own);
    }
    // All have the same number of inputs, which saves the processor guessing: those at the end begin earlier.
    for (int i = 0; i < outputs; ++i) {
        const int beyond = first[std::size_t(i)] + count - input;
        if (beyond <= 0) continue;
        float *w = weight.data() + std::ptrdiff_t(i) * stride;
        std::move_backward(w, w + count - beyond, w + count);
        std::fill_n(w, beyond, 0.f);
        first[std::size_t(i)] -= beyond;
    }
}

namespace {

/// Scratch memory of a thread: views of one size follow each other by the thousand.
struct Scratch {
    Taps rows, columns;
    std::vector<const std::uint8_t *> inputs;
    std::vector<float> line;
};

} // namespace

void resample(const cv::Mat &rgb, const cv::Rect &crop, const cv::Size &full, const cv::Rect &window, float *out,
              Filter filter, bool mirrored)
{
    thread_local Scratch scratch;
    auto &[rows, columns, inputs, line] = scratch;
    rows.make(crop.height, full.height, window.y, window.height, filter);
    columns.make(crop.width, full.width, window.x, window.width, filter);
    const PixelTaps taps{columns.first.data(), columns.weight.data(), columns.count, columns.stride};
    const std::size_t values = std::size_t(crop.width) * 3, plane = std::size_t(window.width) * std::size_t(window.height);
    if (line.size() < values + 1) line.resize(values + 1);
    inputs.resize(std::size_t(rows.count));
    for (int y = 0; y < window.height; ++y, out += window.width) {
        const float *w = rows.weight.data() + std::ptrdiff_t(y) * rows.stride;
        int from = 0, to = rows.count;
        while (to > 1 && w[to - 1] == 0) --to;
        while (from < to - 1 && w[from] == 0) ++from;
        for (int j = from; j < to; ++j)
            inputs[std::size_t(j)] = rgb.ptr(crop.y + rows.first[std::size_t(y)] + j) + 3 * std::ptrdiff_t(crop.x);
        mixBytes(inputs.data() + from, w + from, to - from, line.data(), values);
        mixPixels(line.data(), taps, 1.f / 255, mirrored, {out, out + plane, out + 2 * plane, window.width});
    }
}

void resamplePlanes(const float *planes, const cv::Size &whole, const cv::Rect &crop, const cv::Size &size, float *out,
                    Filter filter)
{
    Taps rows, columns;
    rows.make(crop.height, size.height, 0, size.height, filter);
    columns.make(crop.width, size.width, 0, size.width, filter);
    std::vector<float> narrow(std::size_t(crop.height) * std::size_t(size.width)); // rows of the crop, columns of the result
    const auto mix = [](const Taps &taps, int i, const float *in, std::ptrdiff_t step) {
        const float *w = taps.weight.data() + std::size_t(i) * std::size_t(taps.stride);
        float sum = 0;
        for (int j = 0; j < taps.count; ++j) sum += w[j] * in[(taps.first[std::size_t(i)] + j) * step];
        return sum;
    };
    for (int c = 0; c < 3; ++c) {
        const float *plane = planes + std::ptrdiff_t(c) * whole.area();
        for (int y = 0; y < crop.height; ++y)
            for (int x = 0; x < size.width; ++x)
                narrow[std::size_t(y) * std::size_t(size.width) + std::size_t(x)] =
                    mix(columns, x, plane + std::ptrdiff_t(crop.y + y) * whole.width + crop.x, 1);
        for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x)
                out[std::ptrdiff_t(c) * size.area() + y * size.width + x] = mix(rows, y, narrow.data() + x, size.width);
    }
}

namespace {

/// Weights in fixed point.
struct FixedTaps {
    std::vector<int> first, count, weight; ///< as in Taps
    int stride = 0, bits = 0;

    FixedTaps(int input, int output, Filter filter, Precision precision)
    {
        const Axis<double> axis(input, output, filter);
        stride = axis.stride;
        std::vector<double> exact(std::size_t(output) * std::size_t(stride));
        first.resize(std::size_t(output));
        count.resize(std::size_t(output));
        for (int i = 0; i < output; ++i)
            count[std::size_t(i)] = axis.weights(i, exact.data() + std::ptrdiff_t(i) * stride, first[std::size_t(i)]);
        constexpr int most = 22; // a product of 8 bits, a weight and its sign fill 32
        bits = most;
        if (precision == Precision::Torch) {
            const double largest = *std::max_element(exact.begin(), exact.end());
            for (bits = 0; bits < most && std::floor(0.5 + largest * (1 << (bits + 1))) < (1 << 15);) ++bits;
        }
        for (const double w : exact) weight.push_back(int(std::trunc(w * (1 << bits) + (w < 0 ? -0.5 : 0.5))));
    }

    std::uint8_t mix(int i, const std::uint8_t *in, std::ptrdiff_t step) const
    {
        const int *w = weight.data() + std::ptrdiff_t(i) * stride;
        int sum = 1 << (bits - 1);
        for (int j = 0; j < count[std::size_t(i)]; ++j) sum += w[j] * in[(first[std::size_t(i)] + j) * step];
        return cv::saturate_cast<std::uint8_t>(sum >> bits);
    }
};

} // namespace

cv::Mat resampleBytes(const cv::Mat &rgb, const cv::Rect &crop, const cv::Size &size, Filter filter, Precision precision)
{
    const FixedTaps rows(crop.height, size.height, filter, precision), columns(crop.width, size.width, filter, precision);
    const auto alongRows = [&columns](const cv::Mat &in) {
        cv::Mat out(in.rows, int(columns.count.size()), CV_8UC3);
        for (int y = 0; y < out.rows; ++y)
            for (int x = 0; x < 3 * out.cols; ++x) out.ptr(y)[x] = columns.mix(x / 3, in.ptr(y) + x % 3, 3);
        return out;
    };
    const auto alongColumns = [&rows](const cv::Mat &in) {
        cv::Mat out(int(rows.count.size()), in.cols, CV_8UC3);
        for (int y = 0; y < out.rows; ++y)
            for (int x = 0; x < 3 * out.cols; ++x) out.ptr(y)[x] = rows.mix(y, in.ptr() + x, std::ptrdiff_t(in.step));
        return out;
    };
    // Pillow 13 begins with the columns where that saves work: measured, as its results differ by the rounding between.
    const bool columnsFirst = precision == Precision::Pil && size.height < crop.height &&
        crop.height - size.height > 2 * (crop.width - size.width);
    return columnsFirst ? alongRows(alongColumns(rgb(crop))) : alongColumns(alongRows(rgb(crop)));
}

} // namespace parallax::data
