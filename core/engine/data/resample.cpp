// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/resample.h"

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
    count.resize(std::size_t(outputs));
    weight.assign(std::size_t(outputs) * std::size_t(stride), 0);
    for (int i = 0; i < outputs; ++i)
        count[std::size_t(i)] =
            axis.weights(from + i, weight.data() + std::size_t(i) * std::size_t(stride), first[std::size_t(i)]);
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

void resample(const cv::Mat &rgb, const cv::Rect &crop, const cv::Size &full, const cv::Rect &window, float *out,
              Filter filter)
{
    thread_local Scratch scratch;
    scratch.rows.make(crop.height, full.height, window.y, window.height, filter);
    scratch.columns.make(crop.width, full.width, window.x, window.width, filter);
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
        for (int j = 0; j < taps.count[std::size_t(i)]; ++j) sum += w[j] * in[(taps.first[std::size_t(i)] + j) * step];
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
