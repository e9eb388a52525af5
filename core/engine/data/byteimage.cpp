// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/byteimage.h"

#include "core/engine/data/rotation.h"
#include "core/engine/data/transforms.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace parallax::data {

namespace {

using Pixel = cv::Vec3b;

void apply(cv::Mat &rgb, const auto &change)
{
    for (int y = 0; y < rgb.rows; ++y)
        for (int x = 0; x < rgb.cols; ++x) change(rgb.at<Pixel>(y, x));
}

/// In float, with the rounding of one multiplication and two fused additions.
float grayOf(const Pixel &p) { return std::fma(float(p[2]), 0.114f, std::fma(float(p[1]), 0.587f, float(p[0]) * 0.2989f)); }

/// value · factor + other · (1 - factor), cut to 8 bits and rounded down.
std::uint8_t blend(std::uint8_t value, float other, double factor)
{
    return std::uint8_t(std::clamp(std::fma(other, float(1 - factor), float(value) * float(factor)), 0.f, 255.f));
}

/// A float operation on planes of 0 … 1 between two conversions; `toByte` turns a value back.
void throughPlanes(cv::Mat &rgb, const auto &operation, const auto &toByte, float scale)
{
    const std::size_t n = rgb.total();
    std::vector<float> values(3 * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < 3; ++c)
            values[c * n + i] = float(rgb.at<Pixel>(int(i) / rgb.cols, int(i) % rgb.cols)[int(c)]) / scale;
    operation(transforms::Planes{values.data(), rgb.cols, rgb.rows});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < 3; ++c)
            rgb.at<Pixel>(int(i) / rgb.cols, int(i) % rgb.cols)[int(c)] = toByte(values[c * n + i]);
}

} // namespace

void flipHorizontally(cv::Mat &rgb)
{
    for (int y = 0; y < rgb.rows; ++y) std::reverse(rgb.ptr<Pixel>(y), rgb.ptr<Pixel>(y) + rgb.cols);
}

void flipVertically(cv::Mat &rgb)
{
    for (int y = 0; y < rgb.rows / 2; ++y)
        std::swap_ranges(rgb.ptr<Pixel>(y), rgb.ptr<Pixel>(y) + rgb.cols, rgb.ptr<Pixel>(rgb.rows - 1 - y));
}

void adjustBrightness(cv::Mat &rgb, float factor)
{
    apply(rgb, [&](Pixel &p) {
        for (int c = 0; c < 3; ++c) p[c] = std::uint8_t(std::clamp(float(p[c]) * factor, 0.f, 255.f));
    });
}

void solarise(cv::Mat &rgb, double threshold)
{
    apply(rgb, [&](Pixel &p) {
        for (int c = 0; c < 3; ++c) p[c] = double(p[c]) >= threshold ? std::uint8_t(255 - p[c]) : p[c];
    });
}

namespace bytes {

void adjustContrast(cv::Mat &rgb, double factor)
{
    double sum = 0;
    apply(rgb, [&](const Pixel &p) { sum += std::floor(grayOf(p)); });
    const auto mean = float(sum / double(rgb.total()));
    apply(rgb, [&](Pixel &p) {
        for (int c = 0; c < 3; ++c) p[c] = blend(p[c], mean, factor);
    });
}

void adjustSaturation(cv::Mat &rgb, double factor)
{
    apply(rgb, [&](Pixel &p) {
        const float gray = std::floor(grayOf(p));
        for (int c = 0; c < 3; ++c) p[c] = blend(p[c], gray, factor);
    });
}

void adjustHue(cv::Mat &rgb, float turn)
{
    // A hair less than 256, so that 1 stays below it.
    throughPlanes(
        rgb, [&](transforms::Planes view) { transforms::adjustHue(view, turn); },
        [](float value) { return std::uint8_t(value * 255.999f); }, 255);
}

void toGray(cv::Mat &rgb)
{
    apply(rgb, [](Pixel &p) { p = Pixel::all(std::uint8_t(grayOf(p))); });
}

void blur(cv::Mat &rgb, int radius, float sigma)
{
    throughPlanes(
        rgb, [&](transforms::Planes view) { transforms::blur(view, radius, sigma); },
        [](float value) { return std::uint8_t(std::clamp(std::nearbyint(value), 0.f, 255.f)); }, 1);
}

void rotate(cv::Mat &rgb, double degrees)
{
    const auto from = rotatedFrom(rgb.cols, rgb.rows, degrees);
    const cv::Mat old = rgb.clone();
    for (int i = 0; i < int(from.size()); ++i) {
        const int source = from[std::size_t(i)];
        rgb.at<Pixel>(i / rgb.cols, i % rgb.cols) =
            source < 0 ? Pixel::all(0) : old.at<Pixel>(source / rgb.cols, source % rgb.cols);
    }
}

} // namespace bytes

} // namespace parallax::data
